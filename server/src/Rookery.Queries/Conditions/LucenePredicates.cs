using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;
using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Compiles a Lucene clause to a predicate. On a full-text field, each term is analyzed with the field's analyzer and
/// matches words. With <c>exact()</c>, on ids and on other fields of a static index, a term matches a whole value.
/// </summary>
/// <param name="fields">Resolves fields.</param>
/// <param name="fullText">Compiles conditions on words.</param>
/// <param name="condition">The condition that contains the clause.</param>
/// <param name="isExact">Whether texts are compared with case.</param>
internal sealed class LucenePredicates(
    FieldResolver fields,
    IFullTextConditions fullText,
    LuceneCondition condition,
    bool isExact
)
{
    /// <summary>Compiles a clause. If the analyzer removes all its terms, the predicate matches nothing.</summary>
    /// <exception cref="QueryException">The clause names a field that cannot be queried, or is too large.</exception>
    public Predicate Make(LuceneClause clause) => TryMake(clause) ?? new ConstantPredicate(false);

    /// <summary>
    /// Compiles a clause. Returns null if the analyzer removes all its terms, for example stop words.
    /// </summary>
    private Predicate? TryMake(LuceneClause clause) =>
        clause switch
        {
            LuceneEvery => new ConstantPredicate(true),
            LuceneBoosted boosted => TryMake(boosted.Inner) is { } inner
                ? new BoostPredicate(inner, boosted.Factor)
                : null,
            LuceneBoolean boolean => TryMakeBoolean(boolean),
            LuceneLeaf leaf => TryMakeLeaf(leaf, FieldOf(leaf)),
            _ => throw new NotSupportedException(clause.GetType().Name),
        };

    private Predicate? TryMakeBoolean(LuceneBoolean boolean)
    {
        var compiledParts = boolean
            .Parts.Select(part => (part.Occur, Predicate: TryMake(part.Clause)))
            .Where(static part => part.Predicate is not null)
            .ToLookup(static part => part.Occur, static part => part.Predicate!);
        if (compiledParts.Count == 0)
        {
            return null;
        }

        Predicate[] should = [.. compiledParts[LuceneOccur.Should]];
        Predicate? any = should.Length > 1 ? new OrPredicate(should) : should.FirstOrDefault();
        List<Predicate> all = [.. compiledParts[LuceneOccur.Must]];
        if (any is not null)
        {
            all.Add(all.Count > 0 ? new OptionalPredicate(any) : any);
        }

        // As in Lucene, a clause that only excludes matches nothing.
        if (all.Count == 0)
        {
            return new ConstantPredicate(false);
        }

        all.AddRange(compiledParts[LuceneOccur.MustNot].Select(static excluded => new NotPredicate(excluded)));
        return all.Count > 1 ? new AndPredicate([.. all]) : all[0];
    }

    private FieldReference FieldOf(LuceneLeaf leaf)
    {
        if (leaf.Field is not { } name)
        {
            return condition.Field;
        }

        // RavenDB's automatic index for this query has only the field of the condition, so a term on another field
        // never matches there.
        int position = condition.Clause.Position;
        return fields is RowFields
            ? new PathReference(
                new FieldPath([.. name.Split('.').Select(static step => new PathStep(step, IsEach: false))], position)
            )
            : throw new QueryException(
                QueryFault.NotSupported,
                $"'{name}:' in a Lucene clause is not supported outside of static indexes: join several conditions.",
                position
            );
    }

    private Predicate? TryMakeLeaf(LuceneLeaf leaf, FieldReference field)
    {
        if (isExact || !fullText.HasWords(field))
        {
            return WholeValues(leaf, fields.CreateReader(field));
        }

        return fullText.TryCompileWords(leaf, field, fields.CreateReader(field), condition.Clause.Position) is { } words
            ? new FullTextPredicate(words)
            : null;
    }

    private Predicate WholeValues(LuceneLeaf leaf, FieldReader reader) =>
        leaf switch
        {
            LucenePattern pattern => new TextPredicate(
                reader,
                new WildcardPattern(PatternOf(pattern.Text, TextOf)),
                isExact
            ),
            LuceneSimilar similar => new TextPredicate(
                reader,
                new SimilarPattern(new FuzzyText(TextOf(similar.Text), similar.Similarity, condition.Clause.Position)),
                isExact
            ),
            LuceneRange range => RangeOf(range) is { IsEmpty: false } keys
                ? new RangePredicate(reader, keys, isExact)
                : new ConstantPredicate(false),
            LuceneText text => new TermsPredicate(reader, new TermSet(ValuesOf(text.Text), isExact), isExact),
            _ => throw new NotSupportedException(leaf.GetType().Name),
        };

    private KeyRange RangeOf(LuceneRange range) =>
        new(KeyOf(range.Low), range.IsIncluded, KeyOf(range.High), range.IsIncluded);

    /// <summary>Converts a pattern to the bytes of a <see cref="WildcardPattern"/>.</summary>
    /// <param name="pattern">The pattern, with the wildcard characters of <see cref="LucenePattern"/>.</param>
    /// <param name="fold">Folds a piece between wildcards as texts are folded.</param>
    internal static byte[] PatternOf(string pattern, Func<string, byte[]> fold)
    {
        var bytes = new List<byte>();
        for (int at = 0; at < pattern.Length; )
        {
            int length = pattern.AsSpan(at).IndexOfAny(LucenePattern.Many, LucenePattern.One);
            length = length < 0 ? pattern.Length - at : length;
            bytes.AddRange(length == 0 ? [] : fold(pattern.Substring(at, length)));
            at += length;
            if (at < pattern.Length)
            {
                bytes.Add(pattern[at++] == LucenePattern.Many ? WildcardPattern.Many : WildcardPattern.One);
            }
        }

        return [.. bytes];
    }

    private byte[] TextOf(string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        return isExact ? utf8 : ConditionCompiler.Fold(utf8);
    }

    private byte[]? KeyOf(string? text)
    {
        byte[] key = new byte[TermKey.MaxBytes];
        return text is null ? null : key[..TermKey.Write(OperandValues.Quote(text), isExact, key)];
    }

    /// <summary>
    /// Returns the values that a term matches: the text, and the number or boolean with the same spelling.
    /// </summary>
    private static List<byte[]> ValuesOf(string text)
    {
        List<byte[]> values = [OperandValues.Quote(text)];
        const NumberStyles Plain = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint;
        if (
            text is "true" or "false"
            || (double.TryParse(text, Plain, CultureInfo.InvariantCulture, out _) && IsJsonNumber(text))
        )
        {
            values.Add(Encoding.UTF8.GetBytes(text));
        }

        return values;
    }

    /// <summary>
    /// Returns whether JSON spells a plain decimal number in this way: without a plus sign, with digits on both sides
    /// of a point, and without leading zeros.
    /// </summary>
    private static bool IsJsonNumber(string text)
    {
        var digits = text.AsSpan().TrimStart('-');
        return text.Length - digits.Length <= 1
            && char.IsAsciiDigit(digits[0])
            && char.IsAsciiDigit(digits[^1])
            && (digits is ['0'] or ['0', '.', ..] || digits[0] != '0');
    }
}

/// <summary>Matches every document, and adds the inner score where the inner condition matches.</summary>
internal sealed class OptionalPredicate(Predicate inner) : Predicate
{
    public Predicate Inner => inner;

    public override bool Matches(in QueriedDocument document, ScanWork work) => true;

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        inner.TryScore(document, work, out score);
        return true;
    }
}

/// <summary>Matches texts that are similar to a given text.</summary>
internal sealed class SimilarPattern(FuzzyText wanted) : TextPattern
{
    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => wanted.Matches(text, work);
}
