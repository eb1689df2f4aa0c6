using System.Text;
using Rookery.Json;

namespace Rookery.Indexing.Definitions;

/// <summary>Finds given members of a JSON object in one pass, which ends when all are found.</summary>
/// <param name="names">The names of the members; none may need escaping in JSON.</param>
internal sealed class NamedMembers(IReadOnlyList<string> names)
{
    // Each name in quotes with its colon.
    private readonly byte[][] _heads = [.. names.Select(static name => Encoding.UTF8.GetBytes($"\"{name}\":"))];

    /// <summary>Number of names.</summary>
    public int Count => _heads.Length;

    /// <summary>Finds the members.</summary>
    /// <param name="members">The members of an object, without braces and without whitespace between tokens.</param>
    /// <param name="ranges">Receives the range of each value; 0..0 for a missing member. If several members have the
    /// same name, the first counts.</param>
    /// <returns>False if a name in the object has an escape, so that it cannot be compared.</returns>
    public bool TryFind(ReadOnlySpan<byte> members, Span<Range> ranges)
    {
        ranges.Clear();
        int missing = Count;
        for (int at = 0; missing > 0 && at < members.Length; )
        {
            int number = NumberOf(members[at..]);
            int value = number >= 0 ? at + _heads[number].Length : JsonText.SkipString(members, at) + 1;
            if (number < 0 && members[at..value].Contains((byte)'\\'))
            {
                return false;
            }

            int end = StoredJson.SkipValue(members, value);
            if (number >= 0 && ranges[number].End.Value == 0)
            {
                ranges[number] = value..end;
                missing--;
            }

            at = end + 1;
        }

        return true;
    }

    private int NumberOf(ReadOnlySpan<byte> member)
    {
        for (int i = 0; i < _heads.Length; i++)
        {
            if (member.StartsWith(_heads[i]))
            {
                return i;
            }
        }

        return -1;
    }
}
