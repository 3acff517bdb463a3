// What strew needs of ONNX Runtime's C interface, version 24, which releases from 1.24 on have: no package brings its headers, and strew links with nothing of
// it. A table is a struct of functions at their places, with room for those between them that nobody calls; tables and structs only ever grow at their ends.
// The names are ONNX Runtime's. Tested by tests/onnxruntime.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strew::ort::abi {

/// The version of the interface that these declarations are of, and the first release that has it.
inline constexpr uint32_t kVersion = 24;
inline constexpr const char* kFirstRelease = "1.24";

// What ONNX Runtime hands out, and only it looks into.
struct Status;
struct Value;
struct Graph;
struct Node;
struct ValueInfo;
struct TypeInfo;
struct TensorInfo;  ///< OrtTensorTypeAndShapeInfo
struct Attribute;   ///< OrtOpAttr
struct KernelInfo;
struct KernelContext;
struct KernelRegistry;
struct KernelDefBuilder;
struct KernelDef;
struct DataType;
struct SupportInfo;  ///< OrtEpGraphSupportInfo
struct HardwareDevice;
struct EpDevice;
struct KeyValuePairs;
struct SessionOptions;
struct Logger;
struct MemoryInfo;
struct Allocator;
struct DataTransfer;
struct NodeComputeContext;
struct EpApi;
struct ModelEditorApi;

enum class ErrorCode : int32_t { fail = 1, invalid_argument = 2, invalid_graph = 10 };
enum class ElementType : int32_t {
  undefined,
  f32,
  u8,
  i8,
  u16,
  i16,
  i32,
  i64,
  string,
  boolean,
  f16,
  f64,
  u32,
  u64,
  complex64,
  complex128,
  bf16,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  u4,
  i4,
  f4e2m1,
  u2,
  i2
};
enum class DeviceKind : int32_t { cpu = 0 };
enum class AttributeType : int32_t { undefined, number, numbers, real, reals, text, texts, graph, tensor };

/// Functions that are not called.
using Unused = void (*)();

/// OrtApi.
struct Api {
  Status* (*CreateStatus)(ErrorCode code, const char* message);
  Unused unused_1;
  const char* (*GetErrorMessage)(const Status* status);
  Unused unused_3[48];
  Status* (*GetTensorMutableData)(Value* value, void** data);
  Unused unused_52[3];
  Status* (*CastTypeInfoToTensorInfo)(const TypeInfo* type, const TensorInfo** tensor);
  Unused unused_56[4];
  Status* (*GetTensorElementType)(const TensorInfo* tensor, ElementType* type);
  Status* (*GetDimensionsCount)(const TensorInfo* tensor, size_t* count);
  Status* (*GetDimensions)(const TensorInfo* tensor, int64_t* dims, size_t count);
  Status* (*GetSymbolicDimensions)(const TensorInfo* tensor, const char** names, size_t count);
  Unused unused_64[22];
  Status* (*KernelInfoGetAttribute_int64)(const KernelInfo* info, const char* name, int64_t* out);
  Status* (*KernelInfoGetAttribute_string)(const KernelInfo* info, const char* name, char* out, size_t* size);
  Status* (*KernelContext_GetInputCount)(const KernelContext* context, size_t* count);
  Unused unused_89;
  Status* (*KernelContext_GetInput)(const KernelContext* context, size_t number, const Value** value);
  Status* (*KernelContext_GetOutput)(KernelContext* context, size_t number, const int64_t* dims, size_t rank, Value** value);
  Unused unused_92;
  void (*ReleaseStatus)(Status* status);
  Unused unused_94[2];
  void (*ReleaseValue)(Value* value);
  Unused unused_97[114];
  /// `size`: of a text its bytes, of a list its elements, else 1.
  Status* (*CreateOpAttr)(const char* name, const void* data, int size, AttributeType type, Attribute** out);
  void (*ReleaseOpAttr)(Attribute* attribute);
  Unused unused_213[24];
  Status* (*HasSessionConfigEntry)(const SessionOptions* options, const char* key, int* out);
  Status* (*GetSessionConfigEntry)(const SessionOptions* options, const char* key, char* out, size_t* size);
  Unused unused_239[5];
  Status* (*KernelInfo_GetNodeName)(const KernelInfo* info, char* out, size_t* size);
  Unused unused_245[27];
  Status* (*ReadOpAttr)(const Attribute* attribute, AttributeType type, void* out, size_t bytes, size_t* out_bytes);
  Unused unused_273;
  Status* (*KernelContext_ParallelFor)(const KernelContext* context, void (*task)(void* data, size_t number), size_t count,
                                       size_t batches, void* data);
  Unused unused_275[14];
  Status* (*GetValueInfoName)(const ValueInfo* info, const char** name);
  Status* (*GetValueInfoTypeInfo)(const ValueInfo* info, const TypeInfo** type);
  const ModelEditorApi* (*GetModelEditorApi)();
  Unused unused_292[15];
  DeviceKind (*HardwareDevice_Type)(const HardwareDevice* device);
  Unused unused_308[9];
  const EpApi* (*GetEpApi)();
  Status* (*GetTensorSizeInBytes)(const Value* value, size_t* bytes);
  Unused unused_319[5];
  Status* (*ValueInfo_GetValueNumConsumers)(const ValueInfo* info, size_t* count);
  Unused unused_325;
  Status* (*ValueInfo_GetInitializerValue)(const ValueInfo* info, const Value** value);
  Unused unused_327[3];
  Status* (*ValueInfo_IsGraphOutput)(const ValueInfo* info, bool* out);
  Status* (*ValueInfo_IsConstantInitializer)(const ValueInfo* info, bool* out);
  Status* (*ValueInfo_IsFromOuterScope)(const ValueInfo* info, bool* out);
  Unused unused_333[2];
  Status* (*Graph_GetOnnxIRVersion)(const Graph* graph, int64_t* version);
  Status* (*Graph_GetNumOperatorSets)(const Graph* graph, size_t* count);
  Status* (*Graph_GetOperatorSets)(const Graph* graph, const char** domains, int64_t* versions, size_t count);
  Status* (*Graph_GetNumInputs)(const Graph* graph, size_t* count);
  Status* (*Graph_GetInputs)(const Graph* graph, const ValueInfo** values, size_t count);
  Status* (*Graph_GetNumOutputs)(const Graph* graph, size_t* count);
  Status* (*Graph_GetOutputs)(const Graph* graph, const ValueInfo** values, size_t count);
  Status* (*Graph_GetNumInitializers)(const Graph* graph, size_t* count);
  Status* (*Graph_GetInitializers)(const Graph* graph, const ValueInfo** values, size_t count);
  Status* (*Graph_GetNumNodes)(const Graph* graph, size_t* count);
  Status* (*Graph_GetNodes)(const Graph* graph, const Node** nodes, size_t count);
  Status* (*Graph_GetParentNode)(const Graph* graph, const Node** node);
  Unused unused_347[2];
  Status* (*Node_GetName)(const Node* node, const char** name);
  Status* (*Node_GetOperatorType)(const Node* node, const char** type);
  Status* (*Node_GetDomain)(const Node* node, const char** domain);
  Status* (*Node_GetSinceVersion)(const Node* node, int* version);
  Status* (*Node_GetNumInputs)(const Node* node, size_t* count);
  Status* (*Node_GetInputs)(const Node* node, const ValueInfo** values, size_t count);
  Status* (*Node_GetNumOutputs)(const Node* node, size_t* count);
  Status* (*Node_GetOutputs)(const Node* node, const ValueInfo** values, size_t count);
  Status* (*Node_GetNumImplicitInputs)(const Node* node, size_t* count);
  Status* (*Node_GetImplicitInputs)(const Node* node, const ValueInfo** values, size_t count);
  Status* (*Node_GetNumAttributes)(const Node* node, size_t* count);
  Status* (*Node_GetAttributes)(const Node* node, const Attribute** attributes, size_t count);
  Status* (*Node_GetAttributeByName)(const Node* node, const char* name, const Attribute** attribute);
  Status* (*OpAttr_GetTensorAttributeAsOrtValue)(const Attribute* attribute, Value** value);
  Status* (*OpAttr_GetType)(const Attribute* attribute, AttributeType* type);
  Status* (*OpAttr_GetName)(const Attribute* attribute, const char** name);
  Status* (*Node_GetNumSubgraphs)(const Node* node, size_t* count);
  Unused unused_366[2];
  /// The provider that has the node already; null or "": none has.
  Status* (*Node_GetEpName)(const Node* node, const char** name);
  Unused unused_369[9];
  Status* (*GetTensorData)(const Value* value, const void** data);
  Unused unused_379[11];
  bool (*TensorTypeAndShape_HasShape)(const TensorInfo* tensor);
  Unused unused_391[23];
  /// The dims are valid as long as the value.
  Status* (*GetTensorElementTypeAndShapeDataReference)(const Value* value, ElementType* type, const int64_t** dims, size_t* rank);
};
static_assert(offsetof(Api, CreateStatus) == 0);
static_assert(offsetof(Api, GetErrorMessage) == 2 * sizeof(Unused));
static_assert(offsetof(Api, GetTensorMutableData) == 51 * sizeof(Unused));
static_assert(offsetof(Api, CastTypeInfoToTensorInfo) == 55 * sizeof(Unused));
static_assert(offsetof(Api, GetTensorElementType) == 60 * sizeof(Unused));
static_assert(offsetof(Api, GetSymbolicDimensions) == 63 * sizeof(Unused));
static_assert(offsetof(Api, KernelInfoGetAttribute_int64) == 86 * sizeof(Unused));
static_assert(offsetof(Api, KernelContext_GetInputCount) == 88 * sizeof(Unused));
static_assert(offsetof(Api, KernelContext_GetInput) == 90 * sizeof(Unused));
static_assert(offsetof(Api, KernelContext_GetOutput) == 91 * sizeof(Unused));
static_assert(offsetof(Api, ReleaseStatus) == 93 * sizeof(Unused));
static_assert(offsetof(Api, ReleaseValue) == 96 * sizeof(Unused));
static_assert(offsetof(Api, CreateOpAttr) == 211 * sizeof(Unused));
static_assert(offsetof(Api, ReleaseOpAttr) == 212 * sizeof(Unused));
static_assert(offsetof(Api, HasSessionConfigEntry) == 237 * sizeof(Unused));
static_assert(offsetof(Api, GetSessionConfigEntry) == 238 * sizeof(Unused));
static_assert(offsetof(Api, KernelInfo_GetNodeName) == 244 * sizeof(Unused));
static_assert(offsetof(Api, ReadOpAttr) == 272 * sizeof(Unused));
static_assert(offsetof(Api, KernelContext_ParallelFor) == 274 * sizeof(Unused));
static_assert(offsetof(Api, GetValueInfoName) == 289 * sizeof(Unused));
static_assert(offsetof(Api, GetValueInfoTypeInfo) == 290 * sizeof(Unused));
static_assert(offsetof(Api, GetModelEditorApi) == 291 * sizeof(Unused));
static_assert(offsetof(Api, HardwareDevice_Type) == 307 * sizeof(Unused));
static_assert(offsetof(Api, GetEpApi) == 317 * sizeof(Unused));
static_assert(offsetof(Api, GetTensorSizeInBytes) == 318 * sizeof(Unused));
static_assert(offsetof(Api, ValueInfo_GetValueNumConsumers) == 324 * sizeof(Unused));
static_assert(offsetof(Api, ValueInfo_GetInitializerValue) == 326 * sizeof(Unused));
static_assert(offsetof(Api, ValueInfo_IsGraphOutput) == 330 * sizeof(Unused));
static_assert(offsetof(Api, Graph_GetOnnxIRVersion) == 335 * sizeof(Unused));
static_assert(offsetof(Api, Graph_GetNodes) == 345 * sizeof(Unused));
static_assert(offsetof(Api, Graph_GetParentNode) == 346 * sizeof(Unused));
static_assert(offsetof(Api, Node_GetName) == 349 * sizeof(Unused));
static_assert(offsetof(Api, Node_GetNumAttributes) == 359 * sizeof(Unused));
static_assert(offsetof(Api, Node_GetNumSubgraphs) == 365 * sizeof(Unused));
static_assert(offsetof(Api, Node_GetEpName) == 368 * sizeof(Unused));
static_assert(offsetof(Api, GetTensorData) == 378 * sizeof(Unused));
static_assert(offsetof(Api, TensorTypeAndShape_HasShape) == 390 * sizeof(Unused));
static_assert(offsetof(Api, GetTensorElementTypeAndShapeDataReference) == 414 * sizeof(Unused));

/// OrtModelEditorApi: what makes nodes. A runtime for devices with little memory may come without it.
struct ModelEditorApi {
  Unused unused_0[6];
  /// Copies the attributes.
  Status* (*CreateNode)(const char* type, const char* domain, const char* name, const char* const* inputs, size_t input_count,
                        const char* const* outputs, size_t output_count, Attribute** attributes, size_t attribute_count,
                        Node** out);
};
static_assert(offsetof(ModelEditorApi, CreateNode) == 6 * sizeof(Unused));

struct ApiBase {
  const Api* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};

/// OrtKernelImpl, which a provider makes and derives from.
struct KernelImpl {
  uint32_t ort_version_supported;
  uint32_t flags;
  Status* (*Compute)(KernelImpl* kernel, KernelContext* context);
  void (*Release)(KernelImpl* kernel);
  Unused PrePackWeight, SetSharedPrePackedWeight;
};
static_assert(sizeof(KernelImpl) == 40);

/// OrtNodeComputeInfo: what runs a group of nodes.
struct NodeComputeInfo {
  uint32_t ort_version_supported;
  Status* (*CreateState)(NodeComputeInfo* info, NodeComputeContext* context, void** state);
  Status* (*Compute)(NodeComputeInfo* info, void* state, KernelContext* context);
  void (*ReleaseState)(NodeComputeInfo* info, void* state);
};
static_assert(sizeof(NodeComputeInfo) == 32);

struct NodeFusionOptions {
  uint32_t ort_version_supported;
  bool drop_constant_initializers;
};
static_assert(sizeof(NodeFusionOptions) == 8);

/// OrtEp: the provider of one session.
struct Ep {
  uint32_t ort_version_supported;
  const char* (*GetName)(const Ep* ep);
  Status* (*GetCapability)(Ep* ep, const Graph* graph, SupportInfo* support);
  Status* (*Compile)(Ep* ep, const Graph** graphs, const Node** fused, size_t count, NodeComputeInfo** infos, Node** contexts);
  void (*ReleaseNodeComputeInfos)(Ep* ep, NodeComputeInfo** infos, size_t count);
  Unused unused_5[8];
  Status* (*GetKernelRegistry)(Ep* ep, const KernelRegistry** registry);
  Status* (*IsConcurrentRunSupported)(Ep* ep, bool* out);
};
static_assert(offsetof(Ep, GetKernelRegistry) == 13 * sizeof(Unused));
static_assert(sizeof(Ep) == 120);

/// OrtEpFactory: makes providers.
struct EpFactory {
  uint32_t ort_version_supported;
  const char* (*GetName)(const EpFactory* factory);
  const char* (*GetVendor)(const EpFactory* factory);
  Status* (*GetSupportedDevices)(EpFactory* factory, const HardwareDevice* const* devices, size_t count, EpDevice** out,
                                 size_t most, size_t* out_count);
  Status* (*CreateEp)(EpFactory* factory, const HardwareDevice* const* devices, const KeyValuePairs* const* metadata,
                      size_t count, const SessionOptions* options, const Logger* logger, Ep** out);
  void (*ReleaseEp)(EpFactory* factory, Ep* ep);
  uint32_t (*GetVendorId)(const EpFactory* factory);
  const char* (*GetVersion)(const EpFactory* factory);
  Unused ValidateCompiledModelCompatibilityInfo;
  // These three are called without a look whether they are there.
  Status* (*CreateAllocator)(EpFactory* factory, const MemoryInfo* memory, const KeyValuePairs* options, Allocator** out);
  void (*ReleaseAllocator)(EpFactory* factory, Allocator* allocator);
  Status* (*CreateDataTransfer)(EpFactory* factory, DataTransfer** out);
  bool (*IsStreamAware)(const EpFactory* factory);
  Unused unused_13[5];
};
static_assert(offsetof(EpFactory, CreateEp) == 4 * sizeof(Unused));
static_assert(offsetof(EpFactory, IsStreamAware) == 12 * sizeof(Unused));
static_assert(sizeof(EpFactory) == 144);

using KernelCreateFunc = Status* (*)(void* state, const KernelInfo* info, KernelImpl** out);

/// OrtEpApi.
struct EpApi {
  Status* (*CreateEpDevice)(EpFactory* factory, const HardwareDevice* device, const KeyValuePairs* metadata,
                            const KeyValuePairs* options, EpDevice** out);
  Unused unused_1;
  Status* (*EpGraphSupportInfo_AddNodesToFuse)(SupportInfo* support, const Node* const* nodes, size_t count,
                                               const NodeFusionOptions* options);
  Status* (*EpGraphSupportInfo_AddSingleNode)(SupportInfo* support, const Node* node);
  Unused unused_4[14];
  Status* (*CreateKernelRegistry)(KernelRegistry** out);
  void (*ReleaseKernelRegistry)(KernelRegistry* registry);
  Status* (*KernelRegistry_AddKernel)(KernelRegistry* registry, const KernelDef* definition, KernelCreateFunc create,
                                      void* state);
  Status* (*CreateKernelDefBuilder)(KernelDefBuilder** out);
  void (*ReleaseKernelDefBuilder)(KernelDefBuilder* builder);
  Status* (*KernelDefBuilder_SetOperatorType)(KernelDefBuilder* builder, const char* type);
  Status* (*KernelDefBuilder_SetDomain)(KernelDefBuilder* builder, const char* domain);
  Status* (*KernelDefBuilder_SetSinceVersion)(KernelDefBuilder* builder, int first, int last);
  Status* (*KernelDefBuilder_SetExecutionProvider)(KernelDefBuilder* builder, const char* name);
  Unused unused_27[2];
  Status* (*KernelDefBuilder_AddTypeConstraint)(KernelDefBuilder* builder, const char* name, const DataType* const* types,
                                                size_t count);
  Unused unused_30;
  /// The output may lie in the memory of the input; whether it does, only the call knows.
  Status* (*KernelDefBuilder_AddInputOutputMutableAliases)(KernelDefBuilder* builder, const int* inputs, const int* outputs,
                                                           size_t count);
  Status* (*KernelDefBuilder_Build)(KernelDefBuilder* builder, KernelDef** out);
  void (*ReleaseKernelDef)(KernelDef* definition);
  const char* (*KernelDef_GetOperatorType)(const KernelDef* definition);
  const char* (*KernelDef_GetDomain)(const KernelDef* definition);
  Status* (*KernelDef_GetSinceVersion)(const KernelDef* definition, int* first, int* last);
  Unused unused_37[3];
  Status* (*GetTensorDataType)(ElementType type, const DataType** out);
  Status* (*EpGraphSupportInfo_LookUpKernel)(SupportInfo* support, const Node* node, const KernelDef** out);
};
static_assert(offsetof(EpApi, EpGraphSupportInfo_AddNodesToFuse) == 2 * sizeof(Unused));
static_assert(offsetof(EpApi, CreateKernelRegistry) == 18 * sizeof(Unused));
static_assert(offsetof(EpApi, KernelDefBuilder_AddTypeConstraint) == 29 * sizeof(Unused));
static_assert(offsetof(EpApi, KernelDefBuilder_AddInputOutputMutableAliases) == 31 * sizeof(Unused));
static_assert(offsetof(EpApi, KernelDef_GetSinceVersion) == 36 * sizeof(Unused));
static_assert(offsetof(EpApi, GetTensorDataType) == 40 * sizeof(Unused));
static_assert(offsetof(EpApi, EpGraphSupportInfo_LookUpKernel) == 41 * sizeof(Unused));

}  // namespace strew::ort::abi
