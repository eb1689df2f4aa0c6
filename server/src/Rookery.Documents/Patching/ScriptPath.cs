using System.Globalization;
using System.Text;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>A compiled path inside a command, walked segment by segment.</summary>
internal ref struct ScriptPath(ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _position;

    /// <summary>True before the last segment was read.</summary>
    public readonly bool HasNext => _position < _bytes.Length;

    /// <summary>True when the segment is an index.</summary>
    public bool IsIndex { get; private set; }

    /// <summary>The segment's index.</summary>
    public int Index { get; private set; }

    /// <summary>The segment's name.</summary>
    public ReadOnlySpan<byte> Name { get; private set; }

    /// <summary>Reads the next segment; false when it does not decode.</summary>
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

    /// <summary>The segments read so far, as the script wrote them.</summary>
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
