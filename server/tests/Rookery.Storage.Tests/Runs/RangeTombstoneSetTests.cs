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
        Gen.Select(Tombstones, Tombstones, Keys.Array[1, 200])
            .CheckEach(
                100,
                static one =>
                {
                    var (some, more, probes) = one;
                    var set = RangeTombstoneSet.Union([
                        new RangeTombstoneSet(some),
                        new RangeTombstoneSet(more),
                        RangeTombstoneSet.Empty,
                    ]);
                    foreach (byte[] key in probes)
                    {
                        // -1: no tombstone covers the key.
                        long expected = some.Concat(more)
                            .Where(tombstone => Covers(tombstone.From.Span, tombstone.ToExclusive.Span, key))
                            .Select(tombstone => tombstone.Sequence)
                            .DefaultIfEmpty(-1)
                            .Max();
                        Assert.Equal(expected, set.CoveringSequence(key));
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
