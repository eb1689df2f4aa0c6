using CsCheck;
using Rookery.Simulation;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// Range tombstones, split into pieces that do not overlap. Each piece has the highest sequence number of the
/// tombstones that cover it.
/// </summary>
public sealed class RangeTombstoneSetTests
{
    [Fact]
    public void Pieces_cover_exactly_the_keys_of_the_tombstones() =>
        Gen.Select(Tombstones, Tombstones, Keys.Array[2], Keys.Array[1, 200])
            .CheckEach(
                100,
                static one =>
                {
                    var (some, more, bounds, probes) = one;
                    var set = RangeTombstoneSet.Union([
                        new RangeTombstoneSet(some),
                        new RangeTombstoneSet(more),
                        RangeTombstoneSet.Empty,
                    ]);
                    var within = set.Within(bounds[0], bounds[1]);
                    foreach (byte[] key in probes)
                    {
                        // -1: no tombstone covers the key.
                        long expected = some.Concat(more)
                            .Where(tombstone => Covers(tombstone.From.Span, tombstone.ToExclusive.Span, key))
                            .Select(tombstone => tombstone.Sequence)
                            .DefaultIfEmpty(-1)
                            .Max();
                        Assert.Equal(expected, set.CoveringSequence(key));
                        Assert.Equal(Covers(bounds[0], bounds[1], key) ? expected : -1, within.CoveringSequence(key));
                    }

                    foreach (var (piece, next) in set.Pieces.Zip(set.Pieces.Skip(1)))
                    {
                        Assert.True(
                            piece.ToExclusive.Span.SequenceCompareTo(next.From.Span) <= 0,
                            "pieces do not overlap"
                        );
                    }
                }
            );

    [Fact]
    public void A_set_that_is_bounded_only_below_covers_all_keys_from_the_bound_on()
    {
        var set = new RangeTombstoneSet([new RangeTombstone("b"u8.ToArray(), "y"u8.ToArray(), Sequence: 5)]);
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

    private static Gen<byte[]> Keys { get; } =
        Gen.Select(Gen.Byte[0, 4].Array[0, 3], Gen.Byte[0, 249], static (first, last) => (byte[])[.. first, last]);

    private static Gen<RangeTombstone[]> Tombstones { get; } =
        Gen.Select(
            Keys,
            Keys,
            Gen.Long[0, 99],
            static (from, to, sequence) => new RangeTombstone(from, to, sequence)
        ).Array[0, 12];
}
