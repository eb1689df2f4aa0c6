using System.Buffers.Binary;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// Sort column of scores. Skips consecutive entries without scoring them if the upper bound of their scores is too low.
/// </summary>
/// <param name="node">Computes the scores.</param>
/// <param name="isDescending">Whether the highest score comes first.</param>
internal sealed class ScoreSortColumn(ScoreNode node, bool isDescending) : SortColumn
{
    private double _last = double.NegativeInfinity;

    // Whether the entries through _knownTo come after the last wanted entry.
    private bool _isAfterLast;
    private int _knownTo = -1;

    /// <summary>The score written last.</summary>
    public double Score { get; private set; }

    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        node.TryScore(entry, out double score);
        Score = score;
        return SortKeys.WriteScore(score, destination);
    }

    /// <inheritdoc/>
    public override void SetLast(ReadOnlySpan<byte> value) =>
        _last = isDescending ? BinaryPrimitives.ReadDoubleBigEndian(value) : double.NegativeInfinity;

    /// <inheritdoc/>
    public override bool IsAfterLast(int entry, out int to)
    {
        if (entry > _knownTo)
        {
            _isAfterLast = node.ComputeUpperBound(entry, out _knownTo) < _last;
        }

        to = _knownTo;
        return _isAfterLast;
    }
}
