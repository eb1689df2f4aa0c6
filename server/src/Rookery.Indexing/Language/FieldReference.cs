namespace Rookery.Indexing.Language;

/// <summary>One step of a path.</summary>
/// <param name="Name">The member's name, as it is written in documents.</param>
/// <param name="IsEach"><c>[]</c> behind it: each element of the array that stands there.</param>
public readonly record struct PathStep(string Name, bool IsEach);

/// <summary>
/// Where a value stands in a document: <c>address.city</c>, <c>lines[].product</c>, <c>@metadata.@collection</c>.
/// Without the query's alias.
/// </summary>
/// <param name="Steps">At least one.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record FieldPath(IReadOnlyList<PathStep> Steps, int Position)
{
    /// <summary>The names of its steps.</summary>
    internal string[] Names
    {
        get
        {
            string[] names = new string[Steps.Count];
            for (int i = 0; i < names.Length; i++)
            {
                names[i] = Steps[i].Name;
            }

            return names;
        }
    }

    /// <summary>The path as RavenDB writes it: <c>lines[].product</c>.</summary>
    public override string ToString() =>
        string.Join('.', Steps.Select(static step => step.IsEach ? step.Name + "[]" : step.Name));

    /// <summary>Paths are the same when their steps are, wherever they were written.</summary>
    public bool Equals(FieldPath? other) => other is not null && Steps.SequenceEqual(other.Steps);

    /// <inheritdoc/>
    public override int GetHashCode() => Steps.Aggregate(17, static (hash, step) => HashCode.Combine(hash, step));
}

/// <summary>What a condition, an order or a projection speaks of.</summary>
/// <param name="Position">Characters of the text before it.</param>
public abstract record FieldReference(int Position);

/// <summary>A field of the document, of a group (its key or an alias), or of an index's entry.</summary>
/// <param name="Path">Which one.</param>
public sealed record PathReference(FieldPath Path) : FieldReference(Path.Position);

/// <summary><c>id()</c>, <c>id(alias)</c>.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record IdReference(int Position) : FieldReference(Position);

/// <summary><c>key()</c> of a grouped query: its only key, or an object of all.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record GroupKeyReference(int Position) : FieldReference(Position);

/// <summary><c>score()</c> in a projection.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ScoreReference(int Position) : FieldReference(Position);

/// <summary>What a grouped query computes.</summary>
public enum AggregateKind
{
    /// <summary><c>count()</c>.</summary>
    Count,

    /// <summary><c>sum(path)</c>.</summary>
    Sum,

    /// <summary><c>min(path)</c>.</summary>
    Min,

    /// <summary><c>max(path)</c>.</summary>
    Max,

    /// <summary><c>avg(path)</c>.</summary>
    Average,
}

/// <summary><c>count()</c>, <c>sum(path)</c> and the like.</summary>
/// <param name="Kind">Which one.</param>
/// <param name="Path">What is summed; null for a count.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record AggregateReference(AggregateKind Kind, FieldPath? Path, int Position) : FieldReference(Position);
