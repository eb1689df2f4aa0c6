using System.Text;
using Rookery.Platform;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// An object of plain values, as a map returns it: written as the machine would write it, byte for byte, and without
/// it. Any number of threads.
/// </summary>
internal sealed class PlainRow
{
    /// <summary>Names that are looked for at most: their places lie on the stack.</summary>
    public const int MostNames = 32;

    private readonly NamedMembers _names;
    private readonly (byte[] Head, PlainValue Value)[] _members;

    /// <summary>A row.</summary>
    /// <param name="names">What its values speak of.</param>
    /// <param name="members">Its members, each with a name that is not escaped in JSON, none twice.</param>
    public PlainRow(NamedMembers names, IEnumerable<(string Name, PlainValue Value)> members) =>
        (_names, _members) = (
            names,
            [.. members.Select(static member => (Encoding.UTF8.GetBytes($"\"{member.Name}\":"), member.Value))]
        );

    /// <summary>Writes the row of an object.</summary>
    /// <param name="members">The members of the object, without braces.</param>
    /// <param name="mostBytes">Bytes that the row may have. Its members may all be the same large value, so that only
    /// this bounds it.</param>
    /// <param name="row">Takes the row in the place of what it holds.</param>
    /// <returns>False where only the machine knows, as it does of what is larger.</returns>
    public bool TryWrite(ReadOnlySpan<byte> members, int mostBytes, GrowableBytes row)
    {
        Span<Range> room = stackalloc Range[MostNames];
        var found = room[.._names.Count];
        if (!_names.TryFind(members, found))
        {
            return false;
        }

        row.Clear();
        row.Append((byte)'{');
        foreach (var (head, value) in _members)
        {
            if (!value.TryRead(members, found, out var json))
            {
                return false;
            }

            if (json.IsEmpty)
            {
                continue;
            }

            // With a comma before it and a brace behind it.
            if ((long)row.Length + head.Length + json.Length + 2 > mostBytes)
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
