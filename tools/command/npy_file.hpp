#pragma once
// Arrays in NumPy's .npy files.

#include "array.hpp"

#include <iosfwd>
#include <string>

namespace simdattn::command {

/// What a file may hold.
struct NpyKind {
  bool may_be_boolean = false; ///< besides float32
  std::size_t least_rank = 2;
  std::size_t most_rank = 4;
};

/// Reads an array; Fortran order shows in its strides alone. `option` names the file in errors:
/// "--query". Throws InputError.
Array load_npy(const std::string& option, const std::string& path, const NpyKind& kind = {});

/// Writes a float32 array in C order. Errors stay in the stream's state.
void save_npy(std::ostream& stream, const Array& array);

} // namespace simdattn::command
