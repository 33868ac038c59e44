#include "onnx_files.hpp"

#include "protobuf.hpp"
#include "reference/elements.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace simdattn::test {
namespace {

// Field numbers and types of onnx.proto.
namespace model_proto {
constexpr std::uint32_t graph = 7;
}
namespace graph_proto {
constexpr std::uint32_t node = 1, input = 11, output = 12;
}
namespace value_info_proto {
constexpr std::uint32_t name = 1;
}
namespace node_proto {
constexpr std::uint32_t input = 1, output = 2, op_type = 4, attribute = 5;
}
namespace attribute_proto {
constexpr std::uint32_t name = 1, f = 2, i = 3, type = 20;
constexpr std::uint64_t type_float = 1, type_int = 2;
} // namespace attribute_proto
namespace tensor_proto {
constexpr std::uint32_t dims = 1, data_type = 2, name = 8, raw_data = 9;
constexpr std::uint64_t type_float = 1, type_int64 = 7, type_bool = 9, type_float16 = 10;
} // namespace tensor_proto

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) throw std::runtime_error("can't be read");
  return std::move(bytes).str();
}

struct StoredType {
  DataType type;
  std::size_t bytes;
};

StoredType stored_type(std::uint64_t data_type) {
  switch (data_type) {
  case tensor_proto::type_float:
    return {DataType::f32, 4};
  case tensor_proto::type_float16:
    return {DataType::f16, 2};
  case tensor_proto::type_bool:
    return {DataType::boolean, 1};
  case tensor_proto::type_int64:
    return {DataType::i64, 8};
  default:
    throw std::runtime_error("holds a tensor of type " + std::to_string(data_type) +
                             "; float, float16, bool and int64 are known");
  }
}

void set_elements(OnnxTensor& tensor, std::uint64_t data_type, std::string_view raw) {
  const StoredType stored = stored_type(data_type);
  std::size_t count = 1;
  for (const std::int64_t dim : tensor.dims)
    count *= static_cast<std::size_t>(dim);
  if (raw.size() != count * stored.bytes)
    throw std::runtime_error("holds " + std::to_string(raw.size()) + " bytes of raw data for " +
                             std::to_string(count) + " elements");
  tensor.was_float16 = stored.type == DataType::f16;
  tensor.type = tensor.was_float16 ? DataType::f32 : stored.type;
  if (!tensor.was_float16) {
    tensor.elements = GuardedBuffer(raw.size(), Placement::back);
    if (!raw.empty()) std::memcpy(tensor.elements.data(), raw.data(), raw.size());
    return;
  }
  tensor.elements = GuardedBuffer(count * sizeof(float), Placement::back);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, raw.data() + 2 * i, 2);
    const auto wide = static_cast<float>(reference::number(Float16{half}));
    std::memcpy(tensor.elements.data() + 4 * i, &wide, 4);
  }
}

OnnxTensor parse_tensor(std::string_view message) {
  OnnxTensor tensor;
  std::uint64_t data_type = 0;
  std::string_view raw;
  for (const ProtobufField& field : protobuf_fields(message)) {
    if (field.number == tensor_proto::dims) append_integers(field, tensor.dims);
    if (field.number == tensor_proto::data_type) data_type = field.integer;
    if (field.number == tensor_proto::name) tensor.name = field.bytes;
    if (field.number == tensor_proto::raw_data) raw = field.bytes;
  }
  set_elements(tensor, data_type, raw);
  return tensor;
}

void parse_attribute(std::string_view message, std::map<std::string, double>& attributes) {
  std::string name;
  std::uint64_t type = 0, integer = 0;
  float real = 0;
  for (const ProtobufField& field : protobuf_fields(message)) {
    if (field.number == attribute_proto::name) name = field.bytes;
    if (field.number == attribute_proto::type) type = field.integer;
    if (field.number == attribute_proto::i) integer = field.integer;
    if (field.number == attribute_proto::f)
      real = std::bit_cast<float>(static_cast<std::uint32_t>(field.integer));
  }
  if (type == attribute_proto::type_float)
    attributes[name] = real;
  else if (type == attribute_proto::type_int)
    attributes[name] = static_cast<double>(static_cast<std::int64_t>(integer));
  else
    throw std::runtime_error("has the attribute " + name + ", which is no number");
}

OnnxNode parse_node(std::string_view message) {
  OnnxNode node;
  for (const ProtobufField& field : protobuf_fields(message)) {
    if (field.number == node_proto::input) node.inputs.emplace_back(field.bytes);
    if (field.number == node_proto::output) node.outputs.emplace_back(field.bytes);
    if (field.number == node_proto::op_type) node.op_type = field.bytes;
    if (field.number == node_proto::attribute) parse_attribute(field.bytes, node.attributes);
  }
  return node;
}

struct Model {
  std::vector<OnnxNode> nodes;
  std::vector<std::string> inputs, outputs; // by the number of their file
};

std::string parse_value_name(std::string_view message) {
  std::string name;
  for (const ProtobufField& field : protobuf_fields(message))
    if (field.number == value_info_proto::name) name = field.bytes;
  return name;
}

Model parse_model(std::string_view message) {
  Model model;
  for (const ProtobufField& graph : protobuf_fields(message)) {
    if (graph.number != model_proto::graph) continue;
    for (const ProtobufField& field : protobuf_fields(graph.bytes)) {
      if (field.number == graph_proto::node) model.nodes.push_back(parse_node(field.bytes));
      if (field.number == graph_proto::input) model.inputs.push_back(parse_value_name(field.bytes));
      if (field.number == graph_proto::output)
        model.outputs.push_back(parse_value_name(field.bytes));
    }
  }
  if (model.nodes.size() != 1)
    throw std::runtime_error("has " + std::to_string(model.nodes.size()) + " nodes, must have one");
  return model;
}

// Parses a file; what goes wrong names it.
template <class Parse>
auto parse_file(const std::string& path, Parse parse) {
  try {
    return parse(read_file(path));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + " " + error.what());
  }
}

// The tensors of the files PREFIX0.pb … , where the node has them.
std::vector<std::optional<OnnxTensor>> read_tensors(const std::string& prefix,
                                                    const std::vector<std::string>& file_names,
                                                    const std::vector<std::string>& node_names) {
  std::vector<std::optional<OnnxTensor>> tensors(node_names.size());
  for (std::size_t file = 0; file < file_names.size(); ++file) {
    const std::string path = prefix + std::to_string(file) + ".pb";
    OnnxTensor tensor = parse_file(path, parse_tensor);
    if (tensor.name != file_names[file])
      throw std::runtime_error(path + " holds " + tensor.name + ", must hold " + file_names[file]);
    for (std::size_t slot = 0; slot < node_names.size(); ++slot)
      if (node_names[slot] == tensor.name) {
        tensors[slot] = std::move(tensor);
        break;
      }
  }
  for (std::size_t slot = 0; slot < node_names.size(); ++slot)
    if (!node_names[slot].empty() && !tensors[slot])
      throw std::runtime_error("no file " + prefix + "N.pb holds " + node_names[slot]);
  return tensors;
}

const OnnxTensor* at(const std::vector<std::optional<OnnxTensor>>& tensors, std::size_t position) {
  return position < tensors.size() && tensors[position] ? &*tensors[position] : nullptr;
}

} // namespace

const OnnxTensor* OnnxTest::input(std::size_t position) const noexcept {
  return at(inputs, position);
}

const OnnxTensor* OnnxTest::output(std::size_t position) const noexcept {
  return at(outputs, position);
}

double OnnxTest::attribute(const char* name, double otherwise) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second;
}

OnnxTest read_onnx_test(const std::string& folder) {
  Model model = parse_file(folder + "/model.onnx", parse_model);
  const std::string data = folder + "/test_data_set_0/";
  OnnxTest test;
  test.node = std::move(model.nodes.front());
  test.inputs = read_tensors(data + "input_", model.inputs, test.node.inputs);
  test.outputs = read_tensors(data + "output_", model.outputs, test.node.outputs);
  return test;
}

} // namespace simdattn::test
