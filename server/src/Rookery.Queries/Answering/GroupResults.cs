using System.Buffers;
using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>Results that are groups, all computed before the first is written.</summary>
/// <param name="run">Owns the memory of the groups; disposed with this.</param>
/// <param name="groups">The groups.</param>
/// <param name="reader">Reads included documents; outlives this.</param>
internal sealed class GroupResults(IDisposable run, ScanResults groups, AnswerReader reader) : IQueryResults
{
    private int _index = -1;

    public DatabaseReader Reader => reader.Current;

    public long? KnownTotal => groups.TotalResults;

    public long? FilteredCount { get; init; }

    public ReadOnlySpan<byte> Id => default;

    public long DocumentBytes => 0;

    public ValueTask<bool> MoveNextAsync() => ValueTask.FromResult(++_index < groups.GroupCount);

    public void Write(IResultBuffer output)
    {
        output.Write("{"u8);
        int start = output.Length;
        groups.WriteMembers(_index, output);
        output.Write(output.Length == start ? ""u8 : ","u8);
        output.Write("\"@metadata\":{\"@projection\":true}}"u8);
    }

    public void Collect(IReferenceCollector includes)
    {
        var members = new ArrayBufferWriter<byte>();
        groups.WriteMembers(_index, members);
        includes.Collect(members.WrittenSpan);
    }

    public void AddNotesTo(QueryNotes notes)
    {
        // A grouped query has no notes.
    }

    public void Pause() => reader.Pause();

    public ValueTask<long> CountAsync() => ValueTask.FromResult(groups.TotalResults);

    public void Dispose()
    {
        run.Dispose();
    }
}
