namespace Rookery.Queries.Language;

/// <summary>A parsed clause of Lucene's query language. Escapes in texts are resolved.</summary>
public abstract record LuceneClause;

/// <summary>A term, pattern or range of one field.</summary>
/// <param name="Field">The field of the prefix; null for the field of <c>lucene()</c>.</param>
public abstract record LuceneLeaf(string? Field) : LuceneClause;

/// <summary><c>*:*</c>: every document.</summary>
public sealed record LuceneEvery : LuceneClause;

/// <summary>A term, or a phrase in quotes.</summary>
/// <param name="Field">The field of the prefix; null for the field of <c>lucene()</c>.</param>
/// <param name="Text">The text.</param>
/// <param name="Slop">Maximum distance of a phrase's words from their places, in words.</param>
public sealed record LuceneText(string? Field, string Text, int Slop) : LuceneLeaf(Field);

/// <summary>A term with <c>*</c> and <c>?</c>.</summary>
/// <param name="Field">The field of the prefix; null for the field of <c>lucene()</c>.</param>
/// <param name="Text">The term, with <see cref="Many"/> and <see cref="One"/> as wildcards.</param>
public sealed record LucenePattern(string? Field, string Text) : LuceneLeaf(Field)
{
    /// <summary>Represents <c>*</c>: a Unicode noncharacter, which does not occur in texts.</summary>
    public const char Many = '\uFFFF';

    /// <summary>Represents <c>?</c>: a Unicode noncharacter.</summary>
    public const char One = '\uFFFE';
}

/// <summary><c>term~0.7</c>: similar terms.</summary>
/// <param name="Field">The field of the prefix; null for the field of <c>lucene()</c>.</param>
/// <param name="Text">The term.</param>
/// <param name="Similarity">The similarity, at least 0 and below 1.</param>
public sealed record LuceneSimilar(string? Field, string Text, double Similarity) : LuceneLeaf(Field);

/// <summary><c>[a TO b]</c>, <c>{a TO b}</c>: a range of terms, in the order of texts.</summary>
/// <param name="Field">The field of the prefix; null for the field of <c>lucene()</c>.</param>
/// <param name="Low">The lower bound; null for none.</param>
/// <param name="High">The upper bound; null for none.</param>
/// <param name="IsIncluded">Whether both bounds are included.</param>
public sealed record LuceneRange(string? Field, string? Low, string? High, bool IsIncluded) : LuceneLeaf(Field);

/// <summary><c>clause^2</c>: multiplies the score.</summary>
/// <param name="Inner">The clause.</param>
/// <param name="Factor">The factor, above 0.</param>
public sealed record LuceneBoosted(LuceneClause Inner, double Factor) : LuceneClause;

/// <summary>Whether a part of a clause must match.</summary>
public enum LuceneOccur
{
    /// <summary>
    /// The part need not match if the clause has a required part. Otherwise at least one such part must match.
    /// </summary>
    Should,

    /// <summary>The part is required.</summary>
    Must,

    /// <summary>The part is excluded.</summary>
    MustNot,
}

/// <summary>A combination of clauses.</summary>
/// <param name="Parts">The clauses, at least one.</param>
public sealed record LuceneBoolean(IReadOnlyList<(LuceneOccur Occur, LuceneClause Clause)> Parts) : LuceneClause;
