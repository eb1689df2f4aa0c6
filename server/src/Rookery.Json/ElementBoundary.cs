using System.Buffers;

namespace Rookery.Json;

/// <summary>
/// Finds where an object ends whose bytes come in pieces, looking at each byte once: a document of megabytes that
/// arrives in small chunks is not parsed again for each. Counts brackets outside of strings and checks nothing; the
/// parser does that when the object is whole.
/// </summary>
public struct ElementBoundary
{
    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[]"u8);

    private int _depth;
    private bool _inString;
    private bool _escaped;

    /// <summary>Looks at the next bytes of the object.</summary>
    /// <param name="bytes">The bytes; the first ones begin with the object's opening brace.</param>
    /// <param name="taken">How many of them belong to the object.</param>
    /// <returns>True when the object ends with them.</returns>
    public bool TryFind(ReadOnlySpan<byte> bytes, out int taken)
    {
        taken = bytes.Length;
        for (int at = 0; at < bytes.Length; at++)
        {
            if (_escaped)
            {
                _escaped = false;
                continue;
            }

            int next = _inString ? bytes[at..].IndexOfAny((byte)'"', (byte)'\\') : bytes[at..].IndexOfAny(Structure);
            if (next < 0)
            {
                return false;
            }

            at += next;
            switch (bytes[at])
            {
                case (byte)'"':
                    _inString = !_inString;
                    break;
                case (byte)'\\':
                    _escaped = true;
                    break;
                case (byte)'{' or (byte)'[':
                    _depth++;
                    break;
                default:
                    _depth--;
                    break;
            }

            if (_depth <= 0 && !_inString)
            {
                taken = at + 1;
                return true;
            }
        }

        return false;
    }
}
