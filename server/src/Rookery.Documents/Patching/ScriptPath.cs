using System.Globalization;
using System.Text;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>Reads the segments of a compiled path, one by one.</summary>
internal ref struct ScriptPath(ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _position;

    /// <summary>Whether there is another segment.</summary>
    public readonly bool HasNext => _position < _bytes.Length;

    /// <summary>Whether the current segment is an index.</summary>
    public bool IsIndex { get; private set; }

    /// <summary>Index of the current segment.</summary>
    public int Index { get; private set; }

    /// <summary>Name of the current segment.</summary>
    public ReadOnlySpan<byte> Name { get; private set; }

    /// <summary>Reads the next segment; returns false if it does not decode.</summary>
    public bool TryNext()
    {
        IsIndex = _bytes[_position++] == ScriptCompiler.IndexSegment;
        if (IsIndex)
        {
            bool isRead = Varint.TryRead(_bytes, ref _position, out int index);
            Index = index;
            return isRead;
        }

        bool isNamed = Varint.TryReadBytes(_bytes, ref _position, out ReadOnlySpan<byte> name);
        Name = name;
        return isNamed;
    }

    /// <summary>Returns the segments read so far, in the script's notation.</summary>
    public readonly string Describe()
    {
        var text = new StringBuilder("this");
        var walk = new ScriptPath(_bytes[.._position]);
        while (walk.HasNext && walk.TryNext())
        {
            if (walk.IsIndex)
            {
                text.Append(CultureInfo.InvariantCulture, $"[{walk.Index}]");
            }
            else
            {
                text.Append('.').Append(Encoding.UTF8.GetString(walk.Name));
            }
        }

        return text.ToString();
    }
}
