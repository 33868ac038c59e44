#include "heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace simdattn::command {
namespace {

constexpr int cell = 46; // all lengths are in pixels
constexpr int left = 74;
constexpr int top = 60;
constexpr int bottom = 62;
constexpr int legend_gap = 28;
constexpr int legend_width = 20;
constexpr int right = legend_gap + legend_width + 62;
constexpr int legend_steps = 32;

using Colour = std::array<double, 3>;

// Light to dark, each step darker than the one before, so that it reads in grey too.
constexpr Colour colours[] = {
    {247, 251, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
constexpr int last_colour = static_cast<int>(std::size(colours)) - 1;

std::string colour_at(double position) {
  const double scaled = std::clamp(position, 0.0, 1.0) * last_colour;
  const int index = std::min(static_cast<int>(scaled), last_colour - 1);
  const double part = scaled - index;
  int channel[3];
  for (int i = 0; i < 3; ++i) {
    const double mixed = colours[index][i] * (1 - part) + colours[index + 1][i] * part;
    channel[i] = static_cast<int>(std::lround(mixed));
  }
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", channel[0] & 255, channel[1] & 255,
                channel[2] & 255);
  return text;
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

void write_rect(std::ostream& stream, double x, double y, double width, double height,
                const std::string& fill) {
  stream << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
         << height << "\" fill=\"" << fill << "\"/>\n";
}

void write_text(std::ostream& stream, double x, double y, const std::string& anchor,
                const std::string& text, const std::string& more = "") {
  stream << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << '"' << more
         << '>' << text << "</text>\n";
}

void write_cells(std::ostream& stream, const HeatMap& map, double largest) {
  for (int row = 0; row < map.rows; ++row) {
    for (int column = 0; column < map.columns; ++column) {
      const double value = map.values[row * map.columns + column];
      const double position = largest > 0 ? value / largest : 0;
      const int x = left + column * cell;
      const int y = top + row * cell;
      write_rect(stream, x, y, cell, cell, colour_at(position));
      write_text(stream, x + cell / 2.0, y + cell / 2.0 + 4, "middle", two_digits(value),
                 position > 0.6 ? " font-size=\"12\" fill=\"#ffffff\"" : " font-size=\"12\"");
    }
  }
}

void write_axes(std::ostream& stream, const HeatMap& map) {
  const double middle_x = left + map.columns * cell / 2.0;
  const double middle_y = top + map.rows * cell / 2.0;
  const int end_y = top + map.rows * cell;
  for (int column = 0; column < map.columns; ++column) {
    write_text(stream, left + (column + 0.5) * cell, end_y + 20, "middle", std::to_string(column));
  }
  for (int row = 0; row < map.rows; ++row) {
    write_text(stream, left - 10, top + (row + 0.5) * cell + 5, "end", std::to_string(row));
  }
  write_text(stream, middle_x, end_y + 46, "middle", map.column_axis);
  write_text(stream, 0, 0, "middle", map.row_axis,
             " transform=\"translate(26 " + std::to_string(middle_y) + ") rotate(-90)\"");
  write_text(stream, middle_x, 34, "middle", map.title, " font-size=\"17\"");
}

void write_legend(std::ostream& stream, const HeatMap& map, double largest) {
  const int x = left + map.columns * cell + legend_gap;
  const double height = map.rows * cell;
  const double step = height / legend_steps;
  for (int i = 0; i < legend_steps; ++i) {
    const double position = (i + 0.5) / legend_steps;
    // A little taller than a step, so that no gap shows between two.
    write_rect(stream, x, top + height - (i + 1) * step, legend_width, step + (i > 0 ? 0.5 : 0),
               colour_at(position));
  }
  for (const double position : {0.0, 0.5, 1.0}) {
    write_text(stream, x + legend_width + 8, top + height * (1 - position) + 5, "start",
               two_digits(position * largest));
  }
}

} // namespace

void write_svg(std::ostream& stream, const HeatMap& map) {
  const int width = left + map.columns * cell + right;
  const int height = top + map.rows * cell + bottom;
  const double largest = *std::max_element(map.values, map.values + map.rows * map.columns);
  stream << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\""
         << height << "\" viewBox=\"0 0 " << width << ' ' << height
         << "\" font-family=\"sans-serif\" font-size=\"14\">\n";
  write_rect(stream, 0, 0, width, height, "#ffffff");
  write_cells(stream, map, largest);
  write_axes(stream, map);
  write_legend(stream, map, largest);
  stream << "</svg>\n";
}

} // namespace simdattn::command
