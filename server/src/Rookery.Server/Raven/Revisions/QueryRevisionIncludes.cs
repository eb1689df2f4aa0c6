using System.Text;
using Rookery.Documents.Databases;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// Collects the revisions that the answer of a query includes: those with change vectors at a path of a result, and
/// those of the results at a time.
/// </summary>
internal sealed class QueryRevisionIncludes : IDisposable
{
    private const int MaxTimes = 16;

    private readonly IncludePaths _changeVectors;
    private readonly IncludePaths _ids;
    private readonly List<long> _ticks = [];

    /// <summary>Prepares the parts of a query.</summary>
    /// <param name="included">Paths and times, as the query has them.</param>
    /// <param name="memory">Reserves the memory of change vectors and ids.</param>
    /// <param name="check">Called regularly while paths are followed; may throw to end the work.</param>
    /// <exception cref="RefusedException">A path has an unsupported form, or there are too many.</exception>
    public QueryRevisionIncludes(IReadOnlyList<string> included, MemoryShare memory, Action check)
    {
        var paths = new List<string>();
        foreach (string text in included)
        {
            if (WireDate.TryParse(Encoding.UTF8.GetBytes(text), out long ticks))
            {
                _ticks.Add(ticks);
            }
            else
            {
                paths.Add(text);
            }
        }

        if (_ticks.Count > MaxTimes)
        {
            throw RefusedException.BadRequest(
                $"A query includes revisions of at most {MaxTimes} times; this one has {_ticks.Count}."
            );
        }

        _changeVectors = new IncludePaths(paths, memory, check);
        _ids = new IncludePaths([], memory, check);
    }

    /// <summary>Whether the query includes no revisions.</summary>
    public bool IsEmpty => _changeVectors.IsEmpty && _ticks.Count == 0;

    /// <summary>Collects what the current result refers to.</summary>
    public void Collect(IQueryResults results)
    {
        if (!_changeVectors.IsEmpty)
        {
            results.Collect(_changeVectors);
        }

        if (_ticks.Count > 0)
        {
            _ids.Include(results.Id);
        }
    }

    /// <summary>Writes <c>,"RevisionIncludes":[…]</c>.</summary>
    public Task WriteAsync(
        DocumentResponse answer,
        IQueryResults results,
        Database database,
        RequestTimeSlices slices
    ) =>
        RevisionIncludes.WriteAsync(
            answer,
            database,
            () => results.Reader,
            results.Pause,
            _changeVectors.Ids,
            _ids.Ids,
            _ticks,
            slices
        );

    /// <inheritdoc/>
    public void Dispose()
    {
        _changeVectors.Dispose();
        _ids.Dispose();
    }
}
