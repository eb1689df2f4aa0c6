using System.Globalization;
using Rookery.Documents.Changes;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Changes;

/// <summary>
/// The topics that one connection watches. Thread-safe: one thread changes them while others check changes against
/// them.
/// </summary>
internal sealed class ChangeWatches
{
    /// <summary>
    /// Maximum number of watches of one kind on one connection. Every change is compared with all of them.
    /// </summary>
    public const int MaximumOfKind = 4096;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _ids = new(IgnoredCase.OfNames);
    private readonly HashSet<string> _prefixes = new(IgnoredCase.OfNames);
    private readonly HashSet<string> _collections = new(IgnoredCase.OfCollections);
    private readonly HashSet<string> _indexes = new(IgnoredCase.OfNames);
    private readonly HashSet<string> _operations = new(StringComparer.Ordinal);
    private readonly HashSet<string> _counters = new(IgnoredCase.OfNames);
    private readonly HashSet<string> _countersOfDocuments = new(IgnoredCase.OfNames);
    private readonly HashSet<string> _documentCounters = new(IgnoredCase.OfNames);
    private bool _allCounters;
    private bool _allDocuments;
    private bool _allIndexes;
    private bool _allOperations;
    private bool _caches;

    /// <summary>
    /// Whether the client watches for its aggressive cache: it only needs to know that some document or index changed.
    /// </summary>
    public bool Caches => Volatile.Read(ref _caches);

    /// <summary>Executes a command ("watch-doc", "unwatch-prefix", …).</summary>
    /// <returns>False if the command is unknown, lacks its parameter, or exceeds <see cref="MaximumOfKind"/>.</returns>
    public bool TryExecute(string command, string? parameter, string? secondParameter = null)
    {
        bool watch = !command.StartsWith("unwatch-", StringComparison.Ordinal);
        string topic = "";
        if (!watch)
        {
            topic = command["unwatch-".Length..];
        }
        else if (command.StartsWith("watch-", StringComparison.Ordinal))
        {
            topic = command["watch-".Length..];
        }
        lock (_gate)
        {
            switch (topic)
            {
                case "docs":
                    _allDocuments = watch;
                    return true;
                case "doc":
                    return Change(_ids, parameter, watch);
                case "prefix":
                    return Change(_prefixes, parameter, watch);
                case "collection":
                    return Change(_collections, parameter, watch);
                case "operations":
                    _allOperations = watch;
                    return true;
                case "operation":
                    return Change(_operations, parameter, watch);
                case "indexes":
                    _allIndexes = watch;
                    return true;
                case "index":
                    return Change(_indexes, parameter, watch);
                case "aggressive-caching":
                    _caches = watch;
                    return true;
                case "counters":
                    _allCounters = watch;
                    return true;
                case "counter":
                    return Change(_counters, parameter, watch);
                case "document-counters":
                    return Change(_countersOfDocuments, parameter, watch);
                case "document-counter":
                    return !string.IsNullOrEmpty(parameter)
                        && !string.IsNullOrEmpty(secondParameter)
                        && Change(_documentCounters, Join(parameter, secondParameter), watch);
                // This version sends no changes of these topics, but clients wait for the confirmation of the command.
                case "topology-change"
                or "all-timeseries"
                or "timeseries"
                or "document-timeseries"
                or "all-document-timeseries":
                    return true;
                default:
                    return false;
            }
        }
    }

    public bool Wants(in DocumentChange change)
    {
        lock (_gate)
        {
            if (change.Counter is { } counter)
            {
                return _allCounters
                    || _counters.Contains(counter)
                    || _countersOfDocuments.Contains(change.Id)
                    || (_documentCounters.Count > 0 && _documentCounters.Contains(Join(change.Id, counter)));
            }

            if (
                _allDocuments
                || _ids.Contains(change.Id)
                || (change.Collection is { } collection && _collections.Contains(collection))
            )
            {
                return true;
            }

            foreach (string prefix in _prefixes)
            {
                if (IgnoredCase.OfNames.StartsWith(change.Id, prefix))
                {
                    return true;
                }
            }

            return false;
        }
    }

    public bool WantsIndex(string name)
    {
        lock (_gate)
        {
            return _allIndexes || _indexes.Contains(name);
        }
    }

    public bool WantsOperation(long id)
    {
        lock (_gate)
        {
            return _allOperations || _operations.Contains(id.ToString(CultureInfo.InvariantCulture));
        }
    }

    // Neither ids nor names hold control characters.
    private static string Join(string id, string counter) => $"{id}\n{counter}";

    private static bool Change(HashSet<string> set, string? parameter, bool watch)
    {
        if (string.IsNullOrEmpty(parameter) || (watch && set.Count >= MaximumOfKind))
        {
            return false;
        }

        _ = watch ? set.Add(parameter) : set.Remove(parameter);
        return true;
    }
}
