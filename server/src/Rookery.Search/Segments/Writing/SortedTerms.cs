using System.Buffers.Binary;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Sorts the term numbers of a batch by the terms' bytes. Compares eight bytes at a time as one number, which is stored
/// next to the term number, because comparing whole keys would miss the processor's cache twice.
/// </summary>
internal sealed class SortedTerms
{
    private ulong[] _heads = [];
    private int[] _numbers = [];
    private int _count;

    /// <summary>The numbers, in order.</summary>
    public ReadOnlySpan<int> Numbers => _numbers.AsSpan(0, _count);

    /// <summary>Removes all numbers.</summary>
    public void Clear() => _count = 0;

    /// <summary>
    /// Adds a term. The caller adds terms in the order of their keys, or sorts them with
    /// <see cref="Sort(TermTable)"/> at the end.
    /// </summary>
    public void Add(int number)
    {
        if (_count == _numbers.Length)
        {
            Array.Resize(ref _numbers, Math.Max(1024, 2 * _count));
        }

        _numbers[_count++] = number;
    }

    /// <summary>Collects and sorts terms.</summary>
    public void Collect(TermTable terms, ReadOnlySpan<int> numbers)
    {
        Clear();
        foreach (int number in numbers)
        {
            Add(number);
        }

        Sort(terms);
    }

    /// <summary>Sorts the numbers by the keys of their terms.</summary>
    public void Sort(TermTable terms)
    {
        if (_heads.Length < _numbers.Length)
        {
            _heads = new ulong[_numbers.Length];
        }

        Sort(terms, _heads.AsSpan(0, _count), _numbers.AsSpan(0, _count), from: 0);
    }

    private static void Sort(TermTable terms, Span<ulong> heads, Span<int> numbers, int from)
    {
        if (numbers.IsEmpty)
        {
            return;
        }

        if (!TrySkipCommonPrefix(terms, numbers, ref from))
        {
            // A key ends before this position, so its bytes here are padding. This is rare, so whole keys are compared.
            numbers.Sort(new Order(terms));
            return;
        }

        for (int i = 0; i < numbers.Length; i++)
        {
            heads[i] = HeadOf(terms.KeyOf(numbers[i])[from..]);
        }

        heads.Sort(numbers);
        for (int first = 0; first < numbers.Length; )
        {
            int end = first + 1;
            while (end < numbers.Length && heads[end] == heads[first])
            {
                end++;
            }

            if (end - first > 1)
            {
                Sort(terms, heads[first..end], numbers[first..end], from + sizeof(ulong));
            }

            first = end;
        }
    }

    /// <summary>
    /// Advances <paramref name="from"/> to where the keys begin to differ. Returns false if a key ends before it.
    /// </summary>
    private static bool TrySkipCommonPrefix(TermTable terms, ReadOnlySpan<int> numbers, ref int from)
    {
        var first = terms.KeyOf(numbers[0]);
        if (first.Length < from)
        {
            return false;
        }

        first = first[from..];
        foreach (int number in numbers)
        {
            var key = terms.KeyOf(number);
            if (key.Length < from)
            {
                return false;
            }

            first = first[..first.CommonPrefixLength(key[from..])];
        }

        from += first.Length;
        return true;
    }

    private static ulong HeadOf(ReadOnlySpan<byte> key)
    {
        if (key.Length >= sizeof(ulong))
        {
            return BinaryPrimitives.ReadUInt64BigEndian(key);
        }

        ulong head = 0;
        for (int i = 0; i < key.Length; i++)
        {
            head |= (ulong)key[i] << (56 - (8 * i));
        }

        return head;
    }

    private readonly struct Order(TermTable terms) : IComparer<int>
    {
        public int Compare(int x, int y) => terms.KeyOf(x).SequenceCompareTo(terms.KeyOf(y));
    }
}
