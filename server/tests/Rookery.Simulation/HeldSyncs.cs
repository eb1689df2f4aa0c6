using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>A disk whose syncs of some files do not return until a test releases them, as on a worn card.</summary>
/// <param name="disk">The disk that performs all calls.</param>
/// <param name="holds">Whether the syncs of the file at this path are held.</param>
public sealed class HeldSyncs(IDisk disk, Func<string, bool> holds) : WrappedDisk(disk), IDisposable
{
    private readonly ManualResetEventSlim _released = new(initialState: true);
    private int _held;

    /// <summary>The number of syncs that are held now.</summary>
    public int Held => Volatile.Read(ref _held);

    /// <summary>Lets no sync return from now on.</summary>
    public void Hold() => _released.Reset();

    /// <summary>Lets all syncs return again.</summary>
    public void Release() => _released.Set();

    public override IDiskFile Open(string path, DiskOpen mode)
    {
        var file = base.Open(path, mode);
        return holds(path) ? new HeldFile(file, this) : file;
    }

    public void Dispose() => _released.Dispose();

    private void WaitForRelease()
    {
        Interlocked.Increment(ref _held);
        _released.Wait();
        Interlocked.Decrement(ref _held);
    }

    private sealed class HeldFile(IDiskFile file, HeldSyncs disk) : WrappedFile(file)
    {
        public override void Sync()
        {
            disk.WaitForRelease();
            base.Sync();
        }
    }
}
