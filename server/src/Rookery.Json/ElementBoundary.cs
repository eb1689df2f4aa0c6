using System.Buffers;

namespace Rookery.Json;

/// <summary>
/// Finds the end of an object that arrives in pieces. Reads each byte once, so that a large document is not parsed
/// again for each piece. Counts brackets outside of strings and checks nothing else. The parser checks the object when
/// it is complete.
/// </summary>
public struct ElementBoundary
{
    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[]"u8);

    private int _depth;
    private bool _isInString;
    private bool _isEscaped; // whether the next byte follows a backslash

    /// <summary>Scans the next bytes of the object.</summary>
    /// <param name="bytes">The bytes. The first call begins at the object's opening brace.</param>
    /// <param name="objectBytes">Number of bytes that belong to the object.</param>
    /// <returns>Whether the object ends within these bytes.</returns>
    public bool TryFind(ReadOnlySpan<byte> bytes, out int objectBytes)
    {
        objectBytes = bytes.Length;
        for (int at = 0; at < bytes.Length; at++)
        {
            if (_isEscaped)
            {
                _isEscaped = false;
                continue;
            }

            int next = _isInString ? bytes[at..].IndexOfAny((byte)'"', (byte)'\\') : bytes[at..].IndexOfAny(Structure);
            if (next < 0)
            {
                return false;
            }

            at += next;
            switch (bytes[at])
            {
                case (byte)'"':
                    _isInString = !_isInString;
                    break;
                case (byte)'\\':
                    _isEscaped = true;
                    break;
                case (byte)'{' or (byte)'[':
                    _depth++;
                    break;
                default:
                    _depth--;
                    break;
            }

            if (_depth <= 0 && !_isInString)
            {
                objectBytes = at + 1;
                return true;
            }
        }

        return false;
    }
}
