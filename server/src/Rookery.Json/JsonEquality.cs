using System.Buffers;
using System.Numerics;
using Rookery.Platform;

namespace Rookery.Json;

/// <summary>
/// Compares two JSON values as RFC 6902, section 4.6, defines equality: numbers by value, texts with their escapes
/// resolved, arrays by their elements in order, and objects by their members in any order.
/// </summary>
/// <remarks>
/// One pass over both values, without copies of them. Members of two objects are compared in order until their names
/// differ. The rest of the first object is then listed and sorted by name. Before that, one more pass lists the ends of
/// the nested containers, so that they are not scanned once per level. Both lists together take at most about twice
/// the bytes of the first value.
/// </remarks>
public static class JsonEquality
{
    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[]"u8);

    /// <summary>Returns whether two values are equal.</summary>
    /// <param name="actual">Valid JSON without whitespace between tokens, nested at most
    /// <see cref="JsonLimits.MaxDepth"/> levels, in which no object has two members of one name.</param>
    /// <param name="expected">JSON of the same form.</param>
    /// <param name="cost">The cost of the comparison: about the number of bytes that could be copied in the same time.
    /// It depends only on the values, so every node computes the same cost.</param>
    public static bool AreEqual(ReadOnlyMemory<byte> actual, ReadOnlySpan<byte> expected, out long cost)
    {
        bool areLengthsEqual = actual.Length == expected.Length;
        cost = areLengthsEqual ? actual.Length : 0;
        if (areLengthsEqual && actual.Span.SequenceEqual(expected))
        {
            return true;
        }

        var walk = new Walk(actual, expected);
        int actualAt = 0;
        int expectedAt = 0;
        bool areEqual = walk.TryPassValue(ref actualAt, ref expectedAt);
        cost += walk.Cost;
        walk.Return();
        return areEqual;
    }

    private static byte KindOf(byte first) => first is (byte)'-' or (>= (byte)'0' and <= (byte)'9') ? (byte)'0' : first;

    /// <summary>One comparison. Its methods move two offsets over equal parts of the values.</summary>
    private ref struct Walk(ReadOnlyMemory<byte> actualMemory, ReadOnlySpan<byte> expectedJson)
    {
        // Shorter containers have few levels. They are not listed, and are scanned again when they are skipped.
        private const int MinListedBytes = 64;

        // Cost of an element or member, and of a step of a sort or search. On a machine that copies 2.5 GiB a second,
        // an array of numbers takes 30 ns an element.
        private const int CostOfStep = 16;

        // Stands for a container that is not listed.
        private const int NotListed = -1;

        private readonly ReadOnlySpan<byte> _actual = actualMemory.Span;
        private readonly ReadOnlySpan<byte> _expected = expectedJson;
        private PooledItems<Member> _members; // of the objects that are compared by sorted names, outermost first
        private int _memberCount;
        private PooledItems<Container> _containers; // ordered by start
        private int _containerCount;
        private bool _areContainersListed;

        public long Cost { get; private set; }

        public void Return()
        {
            _members.Return();
            _containers.Return();
        }

        public bool TryPassValue(ref int actualAt, ref int expectedAt)
        {
            byte kind = KindOf(_actual[actualAt]);
            if (kind != KindOf(_expected[expectedAt]))
            {
                return false;
            }

            switch (kind)
            {
                case (byte)'[':
                    return TryPassArray(ref actualAt, ref expectedAt);
                case (byte)'{':
                    return TryPassObject(ref actualAt, ref expectedAt);
                default:
                    var actual = ReadScalar(_actual, ref actualAt);
                    var expected = ReadScalar(_expected, ref expectedAt);
                    return kind switch
                    {
                        (byte)'"' => JsonText.Compare(actual[1..^1], expected[1..^1]) == 0,
                        (byte)'0' => DecimalNumber.AreEqual(actual, expected),
                        _ => true, // 'true', 'false' and 'null' differ in their first letters
                    };
            }
        }

        private bool TryPassArray(ref int actualAt, ref int expectedAt)
        {
            actualAt++;
            expectedAt++;
            while (true)
            {
                bool hasNext = HasNext(_actual, ref actualAt);
                if (hasNext != HasNext(_expected, ref expectedAt))
                {
                    return false;
                }

                if (!hasNext)
                {
                    return true;
                }

                if (!TryPassValue(ref actualAt, ref expectedAt))
                {
                    return false;
                }
            }
        }

        private bool TryPassObject(ref int actualAt, ref int expectedAt)
        {
            actualAt++;
            expectedAt++;
            while (true)
            {
                bool hasNext = HasNext(_actual, ref actualAt);
                if (hasNext != HasNext(_expected, ref expectedAt))
                {
                    return false;
                }

                if (!hasNext)
                {
                    return true;
                }

                int actualName = actualAt;
                int expectedName = expectedAt;
                if (JsonText.Compare(ReadName(_actual, ref actualAt), ReadName(_expected, ref expectedAt)) != 0)
                {
                    actualAt = actualName;
                    expectedAt = expectedName;
                    return TryPassUnordered(ref actualAt, ref expectedAt);
                }

                if (!TryPassValue(ref actualAt, ref expectedAt))
                {
                    return false;
                }
            }
        }

        /// <summary>Compares the rest of two objects, from a member on, whatever the order of the members is.</summary>
        private bool TryPassUnordered(ref int actualAt, ref int expectedAt)
        {
            bool listsContainers = !_areContainersListed;
            if (listsContainers)
            {
                ListContainers(actualAt);
            }

            int first = _memberCount;
            ListMembers(ref actualAt);
            int remaining = _memberCount - first;
            while (HasNext(_expected, ref expectedAt))
            {
                var name = ReadName(_expected, ref expectedAt);
                if (!TryFindMember(name, first, out int valueAt) || !TryPassValue(ref valueAt, ref expectedAt))
                {
                    return false;
                }

                remaining--;
            }

            _memberCount = first;
            _areContainersListed &= !listsContainers;
            return remaining == 0;
        }

        /// <summary>Lists the members up to the end of their object, sorted by name.</summary>
        private void ListMembers(ref int at)
        {
            int first = _memberCount;
            long nameBytes = 0;
            while (HasNext(_actual, ref at))
            {
                int name = at;
                nameBytes += ReadName(_actual, ref at).Length;
                _members.Reserve(_memberCount, _memberCount + 1);
                _members.Span[_memberCount] = new Member(name, at);
                _memberCount++;
                SkipListed(ref at);
            }

            var members = _members.Span[first.._memberCount];
            members.Sort(new NameOrder(actualMemory));
            Cost += ((members.Length * (long)CostOfStep) + nameBytes) * BitOperations.Log2((uint)members.Length + 1);
        }

        private bool TryFindMember(scoped ReadOnlySpan<byte> name, int first, out int valueAt)
        {
            int low = first;
            int high = _memberCount;
            while (low < high)
            {
                int middle = (low + high) / 2;
                var member = _members.Span[middle];
                int order = JsonText.Compare(member.NameIn(_actual), name);
                Cost += CostOfStep;
                if (order == 0)
                {
                    valueAt = member.ValueAt;
                    return true;
                }

                if (order < 0)
                {
                    low = middle + 1;
                }
                else
                {
                    high = middle;
                }
            }

            valueAt = 0;
            return false;
        }

        /// <summary>
        /// Lists the containers that are values of members, from a member on to the end of its object. Elements of
        /// arrays are never skipped, so they are not listed.
        /// </summary>
        private void ListContainers(int at)
        {
            int start = at;
            Span<int> open = stackalloc int[JsonLimits.MaxDepth];
            int depth = 0;
            _containerCount = 0;
            _areContainersListed = true;
            while (true)
            {
                at += _actual[at..].IndexOfAny(Structure);
                switch (_actual[at])
                {
                    case (byte)'"':
                        at = JsonText.SkipString(_actual, at);
                        continue;
                    case (byte)'{' or (byte)'[':
                        open[depth] = _actual[at - 1] == (byte)':' ? AddContainer(at) : NotListed;
                        depth++;
                        break;
                    case (byte)'}' or (byte)']' when depth == 0:
                        Cost += at - start;
                        return;
                    default:
                        depth--;
                        if (open[depth] != NotListed)
                        {
                            EndContainer(open[depth], at + 1);
                        }

                        break;
                }

                at++;
            }
        }

        private int AddContainer(int start)
        {
            _containers.Reserve(_containerCount, _containerCount + 1);
            _containers.Span[_containerCount] = new Container(start, End: 0);
            return _containerCount++;
        }

        private void EndContainer(int number, int end)
        {
            ref var container = ref _containers.Span[number];
            if (end - container.Start >= MinListedBytes)
            {
                container = container with { End = end };
            }
            else
            {
                // Containers within this one are shorter still and were removed, so this one is the last of the list.
                _containerCount = number;
            }
        }

        /// <summary>Moves past the value of a member of the first value.</summary>
        private void SkipListed(ref int at)
        {
            int start = at;
            if (_actual[at] is not ((byte)'{' or (byte)'['))
            {
                ReadScalar(_actual, ref at);
                return;
            }

            int low = 0;
            int high = _containerCount;
            while (low < high)
            {
                int middle = (low + high) / 2;
                var container = _containers.Span[middle];
                Cost += CostOfStep;
                if (container.Start == start)
                {
                    at = container.End;
                    return;
                }

                if (container.Start < start)
                {
                    low = middle + 1;
                }
                else
                {
                    high = middle;
                }
            }

            at = StoredJson.SkipValue(_actual, start);
            Cost += at - start;
        }

        /// <summary>
        /// Moves past a comma and returns true if another element or member follows; else moves past the end.
        /// </summary>
        private bool HasNext(ReadOnlySpan<byte> json, ref int at)
        {
            Cost += CostOfStep;
            bool isEnd = json[at] is (byte)'}' or (byte)']';
            if (isEnd || json[at] == (byte)',')
            {
                at++;
            }

            return !isEnd;
        }

        /// <summary>Returns the content of a member's name, and moves to the member's value.</summary>
        private ReadOnlySpan<byte> ReadName(ReadOnlySpan<byte> json, ref int at)
        {
            int start = at + 1;
            int end = JsonText.SkipString(json, at);
            Cost += end - at;
            at = end + 1;
            return json[start..(end - 1)];
        }

        private ReadOnlySpan<byte> ReadScalar(ReadOnlySpan<byte> json, ref int at)
        {
            int start = at;
            at = StoredJson.SkipValue(json, start);
            Cost += at - start;
            return json[start..at];
        }
    }

    /// <summary>A member of the first value.</summary>
    /// <param name="NameAt">Offset of the name's opening quote.</param>
    /// <param name="ValueAt">Offset of the value.</param>
    private readonly record struct Member(int NameAt, int ValueAt)
    {
        public ReadOnlySpan<byte> NameIn(ReadOnlySpan<byte> json) => json[(NameAt + 1)..(ValueAt - 2)];
    }

    /// <summary>An object or array of the first value.</summary>
    /// <param name="Start">Offset of its opening bracket.</param>
    /// <param name="End">Offset after its closing bracket.</param>
    private readonly record struct Container(int Start, int End);

    private readonly struct NameOrder(ReadOnlyMemory<byte> json) : IComparer<Member>
    {
        public int Compare(Member x, Member y) => JsonText.Compare(x.NameIn(json.Span), y.NameIn(json.Span));
    }
}
