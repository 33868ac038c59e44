#pragma once
// A matrix of weights as a picture.

#include <iosfwd>
#include <string>

namespace simdattn::command {

struct HeatMap {
  std::string title;
  std::string row_axis;    ///< what the rows are: "query"
  std::string column_axis; ///< what the columns are: "key"
  const float* values;     ///< rows × columns, row by row, all in [0, 1]
  int rows;
  int columns;
};

/// Writes it as SVG: a square for each value, coloured from 0 to the largest one, with axes and a
/// legend.
void write_svg(std::ostream& stream, const HeatMap& map);

} // namespace simdattn::command
