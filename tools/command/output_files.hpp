#pragma once
// Output files that appear complete and together, or not at all.

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace simdattn::command {

/// Files are written beside their final place and moved there by commit(). Without it none is left
/// behind.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// Opens a file that is to appear at `path`. `option` names it in errors: "--output". The stream
  /// lives as long as this object. Throws InputError when the place can't be written, or is already
  /// that of another file here.
  std::ostream& open(const std::string& option, const std::string& path);

  /// Closes all files and moves them to their places. Throws InputError when one could not be
  /// written.
  void commit();

private:
  struct File {
    std::string name; // in errors
    std::string path;
    std::string temporary;
    std::ofstream stream;
    bool moved = false;
  };
  std::vector<std::unique_ptr<File>> files_;
  bool committed_ = false;
};

} // namespace simdattn::command
