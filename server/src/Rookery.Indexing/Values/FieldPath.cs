namespace Rookery.Indexing.Values;

/// <summary>One step of a path.</summary>
/// <param name="Name">The name of a member, as documents have it.</param>
/// <param name="IsEach">Whether <c>[]</c> follows the name, which refers to each element of the array.</param>
public readonly record struct PathStep(string Name, bool IsEach);

/// <summary>
/// The path of a field in a document, without the query's alias: <c>address.city</c>, <c>lines[].product</c>,
/// <c>@metadata.@collection</c>.
/// </summary>
/// <param name="Steps">The steps; at least one.</param>
/// <param name="Position">The offset of the path in the query text, in characters.</param>
public sealed record FieldPath(IReadOnlyList<PathStep> Steps, int Position)
{
    /// <summary>The names of the steps.</summary>
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

    /// <summary>Returns the path as RavenDB writes it: <c>lines[].product</c>.</summary>
    public override string ToString() =>
        string.Join('.', Steps.Select(static step => step.IsEach ? step.Name + "[]" : step.Name));

    /// <summary>Returns whether both paths have the same steps. Their positions do not count.</summary>
    public bool Equals(FieldPath? other) => other is not null && Steps.SequenceEqual(other.Steps);

    /// <inheritdoc/>
    public override int GetHashCode() => Steps.Aggregate(17, static (hash, step) => HashCode.Combine(hash, step));
}
