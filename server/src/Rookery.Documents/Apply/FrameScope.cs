using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>The frame that is being applied.</summary>
/// <param name="Batch">Its rows.</param>
/// <param name="LogTicks">Its time.</param>
internal readonly record struct FrameScope(WriteBatch Batch, long LogTicks);
