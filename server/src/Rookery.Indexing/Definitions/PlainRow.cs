using System.Text;
using Rookery.Platform;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Runs a map that returns an object of plain values, without the script interpreter, which is slower. The result
/// equals the interpreter's byte for byte. Thread-safe.
/// </summary>
internal sealed class PlainRow
{
    /// <summary>Maximum names to look for, because their ranges are on the stack.</summary>
    public const int MaxNames = 32;

    private readonly NamedMembers _names;
    private readonly (byte[] Head, PlainValue Value)[] _members;

    /// <summary>Makes the function.</summary>
    /// <param name="names">The members of the input that the values are read from.</param>
    /// <param name="members">The members of the row, each with a name that JSON does not escape, no name twice.</param>
    public PlainRow(NamedMembers names, IEnumerable<(string Name, PlainValue Value)> members) =>
        (_names, _members) = (
            names,
            [.. members.Select(static member => (Encoding.UTF8.GetBytes($"\"{member.Name}\":"), member.Value))]
        );

    /// <summary>Writes the row for an object.</summary>
    /// <param name="members">The members of the object, without braces.</param>
    /// <param name="maxBytes">Maximum bytes of the row. All its members may repeat one large value, so nothing else
    /// bounds the row.</param>
    /// <param name="row">Receives the row; its content is replaced.</param>
    /// <returns>False if only the interpreter can decide, or the row is too large.</returns>
    public bool TryWrite(ReadOnlySpan<byte> members, int maxBytes, GrowableBytes row)
    {
        Span<Range> buffer = stackalloc Range[MaxNames];
        var ranges = buffer[.._names.Count];
        if (!_names.TryFind(members, ranges))
        {
            return false;
        }

        row.Clear();
        row.Append((byte)'{');
        foreach (var (head, value) in _members)
        {
            if (!value.TryRead(members, ranges, out var json))
            {
                return false;
            }

            if (json.IsEmpty)
            {
                continue;
            }

            // The 2 bytes are a comma before and a brace after the member.
            if ((long)row.Length + head.Length + json.Length + 2 > maxBytes)
            {
                return false;
            }

            if (row.Length > 1)
            {
                row.Append((byte)',');
            }

            row.Append(head);
            row.Append(json);
        }

        row.Append((byte)'}');
        return true;
    }
}
