using Rookery.Platform;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// Different members of sets in the order in which they were added, each with a number that the caller sets. An
/// allocation for each member would take more memory than the members.
/// </summary>
internal sealed class RedisMembers
{
    private const int FirstPlaces = 16;
    private const int MaxIdle = 4096; // longer arrays are released

    private readonly PooledBytes _bytes = new();
    private readonly List<Member> _members = [];

    // The index of a member plus one, at the place of its hash or the next free one; 0 means none. At most half of the
    // places are in use.
    private int[] _places = new int[FirstPlaces];

    /// <summary>Number of members.</summary>
    public int Count => _members.Count;

    /// <summary>Bytes of all members.</summary>
    public int Bytes => _bytes.Length;

    /// <summary>Returns a member; valid until the next change.</summary>
    public ReadOnlySpan<byte> this[int index] => _bytes.Written.Slice(_members[index].Start, _members[index].Length);

    /// <summary>Returns the number of a member: 0 unless it was set.</summary>
    public int NumberOf(int index) => _members[index].Number;

    /// <summary>Sets the number of a member.</summary>
    public void SetNumber(int index, int number) => _members[index] = _members[index] with { Number = number };

    /// <summary>Removes all members, and returns large memory.</summary>
    public void Clear()
    {
        if (_members.Count == 0)
        {
            return; // at no cost for commands that add none
        }

        _bytes.Clear();
        _members.Clear();
        if (_places.Length > MaxIdle)
        {
            _members.TrimExcess();
            _places = new int[FirstPlaces];
        }
        else
        {
            _places.AsSpan().Clear();
        }
    }

    /// <summary>Releases all memory.</summary>
    public void Release() => _bytes.Release();

    /// <summary>Returns the index of a member; -1 if there is none.</summary>
    public int Find(ReadOnlySpan<byte> member) => _places[PlaceOf(member, HashOf(member))] - 1;

    /// <summary>Adds a member unless it was added before.</summary>
    public void Add(ReadOnlySpan<byte> member)
    {
        int hash = HashOf(member);
        int place = PlaceOf(member, hash);
        if (_places[place] != 0)
        {
            return;
        }

        _members.Add(new Member(_bytes.Length, member.Length, hash, Number: 0));
        _bytes.Append(member);
        _places[place] = _members.Count;
        if (2 * _members.Count > _places.Length)
        {
            Grow();
        }
    }

    private static int HashOf(ReadOnlySpan<byte> member) => BytesComparer.Instance.GetHashCode(member);

    private int PlaceOf(ReadOnlySpan<byte> member, int hash)
    {
        int place = hash & (_places.Length - 1);
        while (_places[place] is not 0 and var next)
        {
            if (_members[next - 1].Hash == hash && this[next - 1].SequenceEqual(member))
            {
                return place;
            }

            place = (place + 1) & (_places.Length - 1);
        }

        return place;
    }

    private void Grow()
    {
        _places = new int[2 * _places.Length];
        for (int i = 0; i < _members.Count; i++)
        {
            int place = _members[i].Hash & (_places.Length - 1);
            while (_places[place] != 0)
            {
                place = (place + 1) & (_places.Length - 1);
            }

            _places[place] = i + 1;
        }
    }

    private readonly record struct Member(int Start, int Length, int Hash, int Number);
}
