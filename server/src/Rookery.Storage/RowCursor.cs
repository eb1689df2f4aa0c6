using System.Buffers;

namespace Rookery.Storage;

/// <summary>A walk over the rows of a range. One thread at a time. Spans are valid until the next move or dispose.</summary>
public sealed class RowCursor : IDisposable
{
    internal RowCursor()
    {
    }

    /// <summary>Goes to the first row, then to the next; false at the end.</summary>
    /// <exception cref="DamagedException">What would come next cannot be trusted.</exception>
    public bool MoveNext() => throw new NotSupportedException();

    /// <summary>The whole key.</summary>
    public ReadOnlySpan<byte> Key => throw new NotSupportedException();

    /// <summary>The etag of the operation that wrote the row.</summary>
    public long Sequence => throw new NotSupportedException();

    /// <summary>Bytes of the value.</summary>
    public long Length => throw new NotSupportedException();

    /// <summary>Whether the value lies in chunks: then it is read with <see cref="CopyTo"/>.</summary>
    public bool IsLarge => throw new NotSupportedException();

    /// <summary>The whole value of a row that is not large.</summary>
    public ReadOnlySpan<byte> Value => throw new NotSupportedException();

    /// <summary>Copies a part of the value, large or not.</summary>
    /// <param name="target">Where to.</param>
    /// <param name="offset">The first byte.</param>
    /// <param name="count">How many.</param>
    /// <exception cref="DamagedException">A chunk cannot be trusted.</exception>
    public void CopyTo(IBufferWriter<byte> target, long offset, long count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotSupportedException();
}
