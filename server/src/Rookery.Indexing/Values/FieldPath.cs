namespace Rookery.Indexing.Values;

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
