#pragma once
// Arrays in NumPy's .npy files.

#include "array.hpp"

#include <iosfwd>
#include <string>

namespace simdattn::command {

/// Reads a float32 array of rank 2 to 4; Fortran order shows in its strides alone. `option` names
/// the file in errors:
/// "--query". Throws InputError.
Array load_npy(const std::string& option, const std::string& path);

/// Writes a float32 array in C order. Errors stay in the stream's state.
void save_npy(std::ostream& stream, const Array& array);

} // namespace simdattn::command
