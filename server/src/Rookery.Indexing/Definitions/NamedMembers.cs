using System.Text;
using Rookery.Json;

namespace Rookery.Indexing.Definitions;

/// <summary>Finds the members of an object that a script names, in one walk that ends with the last of them.</summary>
/// <param name="names">Their names, none of which has to be escaped in JSON.</param>
internal sealed class NamedMembers(IReadOnlyList<string> names)
{
    // As they stand before a value.
    private readonly byte[][] _heads = [.. names.Select(static name => Encoding.UTF8.GetBytes($"\"{name}\":"))];

    /// <summary>How many there are.</summary>
    public int Count => _heads.Length;

    /// <summary>Finds them.</summary>
    /// <param name="members">Members of an object, without braces and without whitespace between tokens.</param>
    /// <param name="found">Takes where their values stand; 0..0 of one that is not there. Of several with one name the
    /// first counts.</param>
    /// <returns>False when a name may be written with escapes.</returns>
    public bool TryFind(ReadOnlySpan<byte> members, Span<Range> found)
    {
        found.Clear();
        int left = Count;
        for (int at = 0; left > 0 && at < members.Length; )
        {
            int number = NumberOf(members[at..]);
            int value = number >= 0 ? at + _heads[number].Length : JsonText.SkipString(members, at) + 1;
            if (number < 0 && members[at..value].Contains((byte)'\\'))
            {
                return false;
            }

            int end = StoredJson.SkipValue(members, value);
            if (number >= 0 && found[number].End.Value == 0)
            {
                found[number] = value..end;
                left--;
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
