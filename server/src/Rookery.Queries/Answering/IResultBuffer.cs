using System.Buffers;

namespace Rookery.Queries.Answering;

/// <summary>Buffer for results, whose last bytes can be removed.</summary>
public interface IResultBuffer : IBufferWriter<byte>
{
    /// <summary>Bytes written and not yet sent.</summary>
    int Length { get; }

    /// <summary>Writes bytes.</summary>
    void Write(ReadOnlySpan<byte> bytes);

    /// <summary>Removes the bytes after the first <paramref name="length"/>.</summary>
    void Truncate(int length);
}
