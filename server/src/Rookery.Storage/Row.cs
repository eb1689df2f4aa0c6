using System.Buffers;

namespace Rookery.Storage;

/// <summary>A row that was looked up. Keeps its block in memory until disposed (exactly once); its snapshot or batch must stay open as long.</summary>
public readonly struct Row : IDisposable
{
    /// <summary>The etag of the operation that wrote it.</summary>
    public long Sequence => throw new NotSupportedException();

    /// <summary>Bytes of its value.</summary>
    public long Length => throw new NotSupportedException();

    /// <summary>Whether the value lies in chunks: then it is read with <see cref="CopyTo"/> and <see cref="Value"/> is not to be used.</summary>
    public bool IsLarge => throw new NotSupportedException();

    /// <summary>The whole value of a row that is not large, in place: valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Value => throw new NotSupportedException();

    /// <summary>Copies a part of the value, large or not, chunk by chunk, each checked.</summary>
    /// <param name="target">Where to.</param>
    /// <param name="offset">The first byte.</param>
    /// <param name="count">How many; offset and count lie within <see cref="Length"/>.</param>
    /// <exception cref="DamagedException">A chunk cannot be trusted. Some bytes may have been written to <paramref name="target"/>.</exception>
    public void CopyTo(IBufferWriter<byte> target, long offset, long count) => throw new NotSupportedException();

    /// <summary>Lets go of the block.</summary>
    public void Dispose() => throw new NotSupportedException();
}
