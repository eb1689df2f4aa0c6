using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.FullText;

/// <summary>What a token must look like. Thread-safe.</summary>
public abstract class TokenPattern
{
    /// <summary>
    /// What every token that matches begins with: the range of a dictionary to look through. Empty when that cannot be
    /// said.
    /// </summary>
    public virtual ReadOnlySpan<byte> Prefix => [];

    /// <summary>Whether a token matches.</summary>
    /// <param name="token">The token.</param>
    /// <param name="work">Counts what that takes; null where nobody waits for it.</param>
    public abstract bool Matches(ReadOnlySpan<byte> token, ScanWork? work);
}

/// <summary>
/// A token of which parts may be anything: <c>do*</c>, <c>*tion</c>, <c>*gre*</c>, <c>c*t</c>. Matches in time linear
/// in the token for each of its pieces.
/// </summary>
internal sealed class StarredToken : TokenPattern
{
    private readonly byte[][] _pieces;
    private readonly bool _isOpenAtStart;
    private readonly bool _isOpenAtEnd;

    /// <summary>A pattern.</summary>
    /// <param name="pieces">What stands between the stars, as tokens have it, none of it empty; nothing for a star
    /// alone.</param>
    /// <param name="isOpenAtStart">Whether a star stands before them.</param>
    /// <param name="isOpenAtEnd">Whether a star stands behind them.</param>
    public StarredToken(byte[][] pieces, bool isOpenAtStart, bool isOpenAtEnd)
    {
        _pieces = pieces;
        _isOpenAtStart = isOpenAtStart;
        _isOpenAtEnd = isOpenAtEnd;
    }

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> Prefix => _isOpenAtStart || _pieces.Length is 0 ? [] : _pieces[0];

    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work)
    {
        work?.Walk(token.Length);
        int first = 0;
        int end = _pieces.Length;
        if (!_isOpenAtStart)
        {
            if (!token.StartsWith(_pieces[0]))
            {
                return false;
            }

            token = token[_pieces[0].Length..];
            first++;
        }

        if (!_isOpenAtEnd)
        {
            end--;
            if (!token.EndsWith(_pieces[end]))
            {
                return false;
            }

            token = token[..^_pieces[end].Length];
        }

        for (; first < end; first++)
        {
            int at = token.IndexOf(_pieces[first]);
            if (at < 0)
            {
                return false;
            }

            token = token[(at + _pieces[first].Length)..];
        }

        return true;
    }
}

/// <summary>A token that a pattern with <c>*</c> and <c>?</c> describes.</summary>
/// <param name="pattern">As <see cref="WildcardPattern"/> has it.</param>
internal sealed class WildcardToken(byte[] pattern) : TokenPattern
{
    private readonly int _plainBytes = WildcardPattern.PlainBytes(pattern);

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> Prefix => pattern.AsSpan(0, _plainBytes);

    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work) =>
        WildcardPattern.Matches(pattern, token, work);
}

/// <summary>A token that is similar to another.</summary>
/// <param name="wanted">The other.</param>
internal sealed class SimilarToken(FuzzyText wanted) : TokenPattern
{
    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work) => wanted.Matches(token, work);
}

/// <summary>A token between two, in the order of their bytes.</summary>
/// <param name="low">The least; null for none.</param>
/// <param name="high">The greatest; null for none.</param>
/// <param name="isIncluded">Whether both belong to it.</param>
internal sealed class TokenRange(byte[]? low, byte[]? high, bool isIncluded) : TokenPattern
{
    private readonly int _commonBytes = low is null || high is null ? 0 : low.AsSpan().CommonPrefixLength(high);

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> Prefix => low.AsSpan(0, _commonBytes);

    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work) =>
        (low is null || token.SequenceCompareTo(low) is var toLow && (toLow > 0 || (toLow == 0 && isIncluded)))
        && (high is null || token.SequenceCompareTo(high) is var toHigh && (toHigh < 0 || (toHigh == 0 && isIncluded)));
}
