using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Rookery.Indexing.Segments;

/// <summary>A term of a batch on its way into order: its first eight bytes as a number, which decides most comparisons without a look at the term.</summary>
/// <param name="Head">The first eight bytes, big-endian, zeros behind the end.</param>
/// <param name="Number">Its number in the table.</param>
internal readonly record struct SortedTerm(ulong Head, int Number)
{
    /// <summary>The terms of a field, in order.</summary>
    public static void Collect(TermTable terms, int field, List<SortedTerm> target)
    {
        for (int number = 0; number < terms.Count; number++)
        {
            if (terms[number].Field == field)
            {
                target.Add(new SortedTerm(HeadOf(terms.KeyOf(number)), number));
            }
        }

        CollectionsMarshal.AsSpan(target).Sort(new Order(terms));
    }

    private static ulong HeadOf(ReadOnlySpan<byte> key)
    {
        if (key.Length >= sizeof(ulong))
        {
            return BinaryPrimitives.ReadUInt64BigEndian(key);
        }

        Span<byte> head = stackalloc byte[sizeof(ulong)];
        head.Clear();
        key.CopyTo(head);
        return BinaryPrimitives.ReadUInt64BigEndian(head);
    }

    private readonly struct Order(TermTable terms) : IComparer<SortedTerm>
    {
        public int Compare(SortedTerm x, SortedTerm y) =>
            x.Head != y.Head ? x.Head.CompareTo(y.Head) : terms.KeyOf(x.Number).SequenceCompareTo(terms.KeyOf(y.Number));
    }
}
