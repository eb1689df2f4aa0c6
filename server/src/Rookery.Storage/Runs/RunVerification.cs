using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Checks a run on disk part by part: header, every block, index, filter, properties and footer. Does not use the block
/// cache.
/// </summary>
internal sealed class RunVerification(RunReader run, RunContents contents, IDiskFile file, IIoRecorder io)
{
    private const int WindowBytes = 256 * 1024;

    /// <summary>Checks whole parts, at least one, until the budget is used up.</summary>
    /// <param name="from">The offset of the first part; 0 begins the run.</param>
    /// <param name="budgetBytes">Bytes after which no further part is begun.</param>
    /// <param name="next">The offset of the part after the checked ones; the run's length after its last.</param>
    /// <returns>The first damage; null if there is none.</returns>
    public RunDamage? Check(long from, long budgetBytes, out long next)
    {
        using var window = new NativeRegion(WindowBytes);
        long begun = io.Begin();
        next = from;
        RunDamage? damage = null;
        while (damage is null && next < contents.Footer.FileBytes && (next == from || next - from < budgetBytes))
        {
            damage = CheckPart(next, window, out next);
        }

        io.Record(IoKind.Scrub, begun, next - from);
        return damage;
    }

    private RunDamage? CheckPart(long from, NativeRegion window, out long next)
    {
        if (from < RunFormat.HeaderBytes)
        {
            next = RunFormat.HeaderBytes;
            var header = window.SpanOf(offset: 0, RunFormat.HeaderBytes);
            string? problem = run.ReadExactly(offset: 0, header) ?? RunFormat.CheckHeader(header, contents.FileId);
            return problem is null ? null : new RunDamage(file.Path, Offset: 0, RunFormat.HeaderBytes, problem);
        }

        if (from < contents.Footer.IndexOffset)
        {
            int block = contents.Index.BlockAt(from);
            next = contents.Index.Offset(block + 1);
            var bytes = window.SpanOf(offset: 0, contents.Index.BytesOnDisk(block));
            string? problem =
                run.ReadExactly(contents.Index.Offset(block), bytes)
                ?? SealedBlock.Open(bytes, contents.FileId, contents.Index.Offset(block), out _);
            return problem is null ? null : run.DamageOf(block, problem);
        }

        next = contents.Footer.FileBytes;
        return CheckEnd();
    }

    /// <summary>Loads index, filter, properties and footer again, as opening does.</summary>
    private RunDamage? CheckEnd()
    {
        try
        {
            using var loaded = RunContents.Load(file, contents.FileId, out var damage);
            return damage;
        }
        catch (DiskException exception)
        {
            long offset = contents.Footer.IndexOffset;
            return new RunDamage(
                file.Path,
                offset,
                contents.Footer.FileBytes - offset,
                $"it could not be read ({DiskException.Describe(exception.Error)})"
            );
        }
    }
}
