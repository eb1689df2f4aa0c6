using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

public sealed class RangeTombstoneSetTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Pieces_cover_exactly_the_keys_of_the_tombstones(int seed)
    {
        var random = new RandomRows(seed);
        RangeTombstone[] tombstones =
        [
            .. Enumerable.Range(0, 20).Select(_ => new RangeTombstone(Key(random), Key(random), random.Next(100))),
        ];
        var set = RangeTombstoneSet.Union([
            new RangeTombstoneSet(tombstones.Take(8)),
            new RangeTombstoneSet(tombstones.Skip(8)),
            RangeTombstoneSet.Empty,
        ]);
        byte[] from = Key(random);
        byte[] to = Key(random);
        var within = set.Within(from, to);

        for (int probe = 0; probe < 2000; probe++)
        {
            byte[] key = Key(random);
            long expected = tombstones
                .Where(tombstone => Covers(tombstone.From.Span, tombstone.ToExclusive.Span, key))
                .Select(tombstone => tombstone.Sequence)
                .DefaultIfEmpty(-1)
                .Max();
            Assert.True(
                expected == set.CoveringSequence(key),
                $"seed {seed}: {Convert.ToHexString(key)} should be covered by {expected}"
            );
            Assert.Equal(Covers(from, to, key) ? expected : -1, within.CoveringSequence(key));
        }

        for (int piece = 1; piece < set.Pieces.Count; piece++)
        {
            Assert.True(
                set.Pieces[piece - 1].ToExclusive.Span.SequenceCompareTo(set.Pieces[piece].From.Span) <= 0,
                $"seed {seed}: pieces overlap"
            );
        }
    }

    [Fact]
    public void Without_an_upper_bound_all_keys_from_the_lower_bound_on_are_kept()
    {
        var set = new RangeTombstoneSet([new RangeTombstone("b"u8.ToArray(), "y"u8.ToArray(), 5)]);
        var within = set.Within("k"u8, default);
        Assert.Equal(
            (-1, 5, 5, -1),
            (
                within.CoveringSequence("j"u8),
                within.CoveringSequence("k"u8),
                within.CoveringSequence("xx"u8),
                within.CoveringSequence("y"u8)
            )
        );
        Assert.True(set.Within("y"u8, default).IsEmpty);
    }

    private static bool Covers(ReadOnlySpan<byte> from, ReadOnlySpan<byte> to, ReadOnlySpan<byte> key) =>
        from.SequenceCompareTo(key) <= 0 && key.SequenceCompareTo(to) < 0;

    private static byte[] Key(RandomRows random) =>
        [.. Enumerable.Range(0, random.Next(4)).Select(_ => (byte)random.Next(5)), (byte)random.Next(250)];
}
