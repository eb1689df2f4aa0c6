using System.Buffers.Binary;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// By relevance. Runs of entries none of which can be relevant enough are passed over without being scored.
/// </summary>
/// <param name="node">The relevance of entries.</param>
/// <param name="isDescending">Whether the most relevant come first.</param>
internal sealed class ScoreSortColumn(ScoreNode node, bool isDescending) : SortColumn
{
    private double _last = double.NegativeInfinity;
    private bool _isBehind;
    private int _knownTo = -1;

    /// <summary>The relevance that was written last.</summary>
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
    public override bool IsBehindLast(int entry, out int to)
    {
        if (entry > _knownTo)
        {
            _isBehind = node.Most(entry, out _knownTo) < _last;
        }

        to = _knownTo;
        return _isBehind;
    }
}
