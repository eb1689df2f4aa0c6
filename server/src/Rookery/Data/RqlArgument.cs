using Rookery.Shell;

namespace Rookery.Data;

/// <summary>Completes RQL in an argument of a command.</summary>
internal static class RqlArgument
{
    /// <summary>Returns the argument with each text that can stand at its end.</summary>
    /// <param name="names">The names of the node.</param>
    /// <param name="database">The database.</param>
    /// <param name="typed">What is typed of the argument.</param>
    public static IReadOnlyList<string> Complete(NodeNames names, string database, string typed)
    {
        var found = RqlCompletion.Of(typed, typed.Length, new Known(names, database));
        return [.. found.Candidates.Select(candidate => string.Concat(typed.AsSpan(0, found.From), candidate))];
    }

    private sealed class Known(NodeNames names, string database) : IKnownNames
    {
        public IReadOnlyList<string> Databases => names.DatabasesAsync().GetAwaiter().GetResult();

        public IReadOnlyList<string> Collections => names.CollectionsAsync(database).GetAwaiter().GetResult();

        public IReadOnlyList<string> Indexes => names.IndexesAsync(database).GetAwaiter().GetResult();

        public IReadOnlyList<string> Fields(string source) =>
            [.. names.FieldsAsync(database, source).GetAwaiter().GetResult().Select(static field => field.Path)];
    }
}
