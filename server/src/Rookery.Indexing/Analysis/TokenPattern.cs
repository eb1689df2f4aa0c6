namespace Rookery.Indexing.Analysis;

/// <summary>A token of which parts may be anything: <c>do*</c>, <c>*tion</c>, <c>*gre*</c>, <c>c*t</c>. Matches in time linear in the token for each of its pieces.</summary>
public sealed class TokenPattern
{
    private readonly byte[][] pieces;
    private readonly bool isOpenAtStart;
    private readonly bool isOpenAtEnd;

    /// <summary>A pattern.</summary>
    /// <param name="pieces">What stands between the stars, as tokens have it, none of it empty; nothing for a star alone.</param>
    /// <param name="isOpenAtStart">Whether a star stands before them.</param>
    /// <param name="isOpenAtEnd">Whether a star stands behind them.</param>
    internal TokenPattern(byte[][] pieces, bool isOpenAtStart, bool isOpenAtEnd)
    {
        this.pieces = pieces;
        this.isOpenAtStart = isOpenAtStart;
        this.isOpenAtEnd = isOpenAtEnd;
    }

    /// <summary>What every token that matches begins with: the range of a dictionary to look through. Empty when the pattern begins with a star.</summary>
    public ReadOnlySpan<byte> Prefix => isOpenAtStart || pieces.Length is 0 ? [] : pieces[0];

    /// <summary>Whether a token matches.</summary>
    public bool Matches(ReadOnlySpan<byte> token)
    {
        int first = 0;
        int end = pieces.Length;
        if (!isOpenAtStart)
        {
            if (!token.StartsWith(pieces[0]))
            {
                return false;
            }

            token = token[pieces[0].Length..];
            first++;
        }

        if (!isOpenAtEnd)
        {
            end--;
            if (!token.EndsWith(pieces[end]))
            {
                return false;
            }

            token = token[..^pieces[end].Length];
        }

        for (; first < end; first++)
        {
            int at = token.IndexOf(pieces[first]);
            if (at < 0)
            {
                return false;
            }

            token = token[(at + pieces[first].Length)..];
        }

        return true;
    }
}
