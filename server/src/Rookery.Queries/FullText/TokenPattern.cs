using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.FullText;

/// <summary>A pattern for tokens. Thread-safe.</summary>
public abstract class TokenPattern
{
    /// <summary>
    /// The prefix of every token that matches, which restricts the search of a dictionary; empty if there is none.
    /// </summary>
    public virtual ReadOnlySpan<byte> Prefix => [];

    /// <summary>Returns whether a token matches.</summary>
    /// <param name="token">The token.</param>
    /// <param name="work">Counts the work against the time limit; null for no limit.</param>
    public abstract bool Matches(ReadOnlySpan<byte> token, ScanWork? work);
}

/// <summary>
/// A pattern with stars: <c>do*</c>, <c>*tion</c>, <c>*gre*</c>, <c>c*t</c>. Each piece between stars takes time linear
/// in the token.
/// </summary>
internal sealed class StarredToken : TokenPattern
{
    private readonly byte[][] _pieces;
    private readonly bool _isOpenAtStart;
    private readonly bool _isOpenAtEnd;

    /// <summary>Creates a pattern.</summary>
    /// <param name="pieces">The pieces between stars, folded, none empty. No pieces for a star alone.</param>
    /// <param name="isOpenAtStart">Whether the pattern begins with a star.</param>
    /// <param name="isOpenAtEnd">Whether the pattern ends with a star.</param>
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
        work?.CountBytes(token.Length);
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

/// <summary>A pattern with <c>*</c> and <c>?</c>.</summary>
/// <param name="pattern">The bytes of a <see cref="WildcardPattern"/>.</param>
internal sealed class WildcardToken(byte[] pattern) : TokenPattern
{
    private readonly int _plainBytes = WildcardPattern.PlainBytes(pattern);

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> Prefix => pattern.AsSpan(0, _plainBytes);

    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work) =>
        WildcardPattern.Matches(pattern, token, work);
}

/// <summary>Matches tokens that are similar to a given one.</summary>
/// <param name="wanted">The token to compare with.</param>
internal sealed class SimilarToken(FuzzyText wanted) : TokenPattern
{
    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work) => wanted.Matches(token, work);
}

/// <summary>Matches tokens in a range, in the order of their bytes.</summary>
/// <param name="low">The lower bound; null for none.</param>
/// <param name="high">The upper bound; null for none.</param>
/// <param name="isIncluded">Whether both bounds are included.</param>
internal sealed class TokenRange(byte[]? low, byte[]? high, bool isIncluded) : TokenPattern
{
    private readonly int _commonBytes = low is null || high is null ? 0 : low.AsSpan().CommonPrefixLength(high);

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> Prefix => low.AsSpan(0, _commonBytes);

    /// <inheritdoc/>
    public override bool Matches(ReadOnlySpan<byte> token, ScanWork? work) =>
        (low is null || IsInOrder(low, token)) && (high is null || IsInOrder(token, high));

    private bool IsInOrder(ReadOnlySpan<byte> lower, ReadOnlySpan<byte> higher)
    {
        int order = lower.SequenceCompareTo(higher);
        return order < 0 || (order == 0 && isIncluded);
    }
}
