using Rookery.Platform;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// Finds fields or members among the arguments of a command, in a time that does not depend on their number. For a text
/// that occurs several times, the position of its last occurrence is found.
/// </summary>
internal sealed class RedisIndex
{
    // Fewer are compared one by one, which needs no memory.
    private const int FewArguments = 16;

    private const int MaxIdle = 4096; // longer arrays are released

    private readonly Dictionary<byte[], int> _positions = new(BytesComparer.Instance);
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> _lookup;
    private bool[] _found = new bool[FewArguments];
    private RedisSlice[] _places = [];
    private int _first;
    private int _step;

    /// <summary>Creates an index.</summary>
    public RedisIndex() => _lookup = _positions.GetAlternateLookup<ReadOnlySpan<byte>>();

    /// <summary>Number of arguments in the index.</summary>
    public int Count { get; private set; }

    /// <summary>Begins with the arguments of a command.</summary>
    /// <param name="arguments">The arguments.</param>
    /// <param name="first">Position of the first field or member.</param>
    /// <param name="step">Distance between two.</param>
    public void Begin(RedisArguments arguments, int first, int step)
    {
        (_first, _step) = (first, step);
        Count = (arguments.Count - first + step - 1) / step;
        if (_found.Length < Count)
        {
            _found = new bool[Math.Max(Count, FewArguments)];
        }

        _found.AsSpan(0, Count).Clear();
        _positions.Clear();
        if (Count > FewArguments)
        {
            for (int i = 0; i < Count; i++)
            {
                _lookup[arguments[first + (i * step)]] = i;
            }
        }
    }

    /// <summary>Forgets the arguments.</summary>
    public void End()
    {
        _positions.Clear();
        _places = _places.Length > MaxIdle ? [] : _places;
        _found = _found.Length > MaxIdle ? new bool[FewArguments] : _found;
        if (_positions.Capacity > MaxIdle)
        {
            _positions.TrimExcess();
        }
    }

    /// <summary>Returns the position of a text, from 0; -1 if it is no argument.</summary>
    public int Find(RedisArguments arguments, ReadOnlySpan<byte> text)
    {
        if (Count > FewArguments)
        {
            return _lookup.TryGetValue(text, out int position) ? position : -1;
        }

        int i = Count - 1;
        while (i >= 0 && !arguments[_first + (i * _step)].SequenceEqual(text))
        {
            i--;
        }

        return i;
    }

    /// <summary>Memory for the place of a value for each position.</summary>
    public RedisSlice[] Places => _places.Length >= Count ? _places : (_places = new RedisSlice[Count]);

    /// <summary>Marks a position; returns whether it was not marked before.</summary>
    public bool TryMark(int position)
    {
        bool isNew = !_found[position];
        _found[position] = true;
        return isNew;
    }

    /// <summary>Returns whether a position is marked.</summary>
    public bool IsMarked(int position) => _found[position];
}
