using System.Text.Json;
using Rookery.Access;
using Rookery.Data;

namespace Rookery.Shell;

/// <summary>
/// The names that the shell offers. They are read from the node when they are first needed, and again after half a
/// minute. A node that is away or slow offers none.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="database">Returns the database's name.</param>
/// <param name="time">The clock.</param>
internal sealed class ShellNames(NodeClient client, Func<string> database, TimeProvider time) : IKnownNames
{
    private const int MaxSources = 100;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Lifetime = TimeSpan.FromSeconds(30);

    private readonly Dictionary<string, (long ReadAt, IReadOnlyList<string> Names)> _read = new(StringComparer.Ordinal);

    public IReadOnlyList<string> Databases => Remember("databases", static (names, _) => names.DatabasesAsync());

    public IReadOnlyList<string> Collections =>
        Remember("collections", static (names, database) => names.CollectionsAsync(database));

    public IReadOnlyList<string> Indexes =>
        Remember("indexes", static (names, database) => names.IndexesAsync(database));

    public IReadOnlyList<string> Fields(string source) =>
        Remember(
            $"from {source}",
            async (names, database) =>
                [.. (await names.FieldsAsync(database, source)).Select(static field => field.Path)]
        );

    private IReadOnlyList<string> Remember(string kind, Func<NodeNames, string, Task<IReadOnlyList<string>>> read)
    {
        string key = $"{database()}\n{kind}";
        if (_read.TryGetValue(key, out var known) && time.GetElapsedTime(known.ReadAt) < Lifetime)
        {
            return known.Names;
        }

        if (_read.Count > MaxSources)
        {
            _read.Clear();
        }

        var names = Read(read);
        _read[key] = (time.GetTimestamp(), names);
        return names;
    }

    private IReadOnlyList<string> Read(Func<NodeNames, string, Task<IReadOnlyList<string>>> read)
    {
        using var limit = new CancellationTokenSource(Limit, time);
        try
        {
            return read(new NodeNames(client, limit.Token), database()).GetAwaiter().GetResult();
        }
        catch (Exception silent)
            when (silent
                    is AdminException
                        or OperationCanceledException
                        or IOException
                        or JsonException
                        or KeyNotFoundException
                        or InvalidOperationException
            )
        {
            return [];
        }
    }
}
