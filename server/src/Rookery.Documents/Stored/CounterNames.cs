using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Ids;
using Rookery.Platform;

namespace Rookery.Documents.Stored;

/// <summary>
/// Walks over the names of a document's counters, ordered by lower-cased name. The stored form of a name is <c>[u16
/// length][name][u16 length of the lower-cased name, or 0][lower-cased name]</c>. Only names that are not ASCII carry
/// their lower-cased form, so that members with different versions of Unicode agree.
/// </summary>
/// <param name="names">The stored names.</param>
public ref struct CounterNames(ReadOnlySpan<byte> names)
{
    private readonly ReadOnlySpan<byte> _names = names;
    private ReadOnlySpan<byte> _lower;
    private int _position;

    /// <summary>The current name, as written.</summary>
    public ReadOnlySpan<byte> Name { get; private set; }

    /// <summary>The current name in its stored form.</summary>
    internal ReadOnlySpan<byte> Entry { get; private set; }

    /// <summary>Moves to the next name.</summary>
    public bool MoveNext()
    {
        if (_position == _names.Length)
        {
            return false;
        }

        int start = _position;
        Name = ReadText();
        _lower = ReadText();
        Entry = _names[start.._position];
        return true;
    }

    /// <summary>Writes the current name lower-cased.</summary>
    /// <param name="destination">At least <see cref="CounterName.MaxBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    internal readonly int WriteLower(Span<byte> destination)
    {
        if (_lower.IsEmpty)
        {
            Ascii.ToLower(Name, destination, out int written);
            return written;
        }

        _lower.CopyTo(destination);
        return _lower.Length;
    }

    /// <summary>Appends a name in its stored form.</summary>
    internal static void Append(PooledBytes names, ReadOnlySpan<byte> name, ReadOnlySpan<byte> lowerName)
    {
        AppendText(names, name);
        AppendText(names, Ascii.IsValid(name) ? default : lowerName);
    }

    private static void AppendText(PooledBytes names, ReadOnlySpan<byte> text)
    {
        Span<byte> length = stackalloc byte[sizeof(ushort)];
        BinaryPrimitives.WriteUInt16LittleEndian(length, checked((ushort)text.Length));
        names.Append(length);
        names.Append(text);
    }

    private ReadOnlySpan<byte> ReadText()
    {
        if (_names.Length - _position < sizeof(ushort))
        {
            throw DocumentView.Broken();
        }

        int length = BinaryPrimitives.ReadUInt16LittleEndian(_names[_position..]);
        _position += sizeof(ushort);
        if (length > _names.Length - _position)
        {
            throw DocumentView.Broken();
        }

        var text = _names.Slice(_position, length);
        _position += length;
        return text;
    }
}
