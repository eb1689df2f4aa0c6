using Rookery.Platform;

namespace Rookery.Search.Segments.Format;

/// <summary>Bytes that are put together piece by piece and used again for the next.</summary>
public sealed class ByteSink(int capacity = 256)
{
    private byte[] _bytes = new byte[capacity];

    /// <summary>Bytes so far.</summary>
    public int Length { get; private set; }

    /// <summary>What was written.</summary>
    public ReadOnlySpan<byte> Span => _bytes.AsSpan(0, Length);

    /// <summary>Bytes of memory it holds.</summary>
    public int Capacity => _bytes.Length;

    /// <summary>Forgets what was written and keeps the memory.</summary>
    public void Clear() => Length = 0;

    /// <summary>Cuts what was written after the first <paramref name="length"/> bytes.</summary>
    public void CutTo(int length) => Length = length;

    /// <summary>Appends a number in 7-bit groups.</summary>
    public void WriteVarint(ulong value)
    {
        Ensure(Varint.MaxBytes64);
        Length += Varint.Write(_bytes.AsSpan(Length), value);
    }

    /// <summary>Appends one byte.</summary>
    public void WriteByte(byte value)
    {
        Ensure(1);
        _bytes[Length++] = value;
    }

    /// <summary>Appends bytes.</summary>
    public void Write(ReadOnlySpan<byte> data)
    {
        data.CopyTo(Take(data.Length));
    }

    /// <summary>Appends <paramref name="count"/> bytes for the caller to fill.</summary>
    public Span<byte> Take(int count)
    {
        Ensure(count);
        var taken = _bytes.AsSpan(Length, count);
        Length += count;
        return taken;
    }

    private void Ensure(int more)
    {
        if (_bytes.Length - Length < more)
        {
            Array.Resize(ref _bytes, Math.Max(_bytes.Length * 2, Length + more));
        }
    }
}
