using System.Buffers;

namespace Rookery.Queries.Answering;

/// <summary>Where results are written to, and the last bytes can be taken back.</summary>
public interface IResultBuffer : IBufferWriter<byte>
{
    /// <summary>Bytes that were written and not yet sent.</summary>
    int Length { get; }

    /// <summary>Writes bytes.</summary>
    void Write(ReadOnlySpan<byte> bytes);

    /// <summary>Forgets what was written behind <paramref name="length"/>.</summary>
    void Truncate(int length);
}
