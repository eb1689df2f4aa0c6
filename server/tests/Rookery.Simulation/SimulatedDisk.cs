using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>
/// A disk in memory that loses unsynced data at a simulated power cut. It records every operation, so that one run of a
/// workload gives crash images at any operation (<see cref="CrashAt"/>), each with its own choice of the surviving
/// sectors, lengths and names. An image is itself such a disk: it can be written and crashed again. The disk can also
/// fail planned calls, fill up and have damaged bytes.
/// </summary>
/// <remarks>
/// Stricter than ext4 where ext4 promises nothing: syncing a file does not make its name durable, unsynced writes
/// persist in any order by sector of 512 bytes (a sector itself is never torn), the next sync does not make durable
/// what a failed one lost. As on ext4, changes within one directory become durable in order, and so do the lengths of
/// one file, and a file reads as zeros where its length survived and its bytes did not.
/// </remarks>
public sealed class SimulatedDisk : IDisk
{
    private readonly Lock _gate = new();
    private readonly FaultPlan _faults = new();
    private readonly SimulatedTree _tree;
    private readonly Dictionary<SimulatedNode, HeldLock> _locks = [];
    private readonly HashSet<SimulatedFileHandle> _handles = [];
    private long _usedBytes;

    /// <summary>Creates an empty disk with these durable directories (absolute paths).</summary>
    public SimulatedDisk(params ReadOnlySpan<string> durableDirectories)
        : this(new SimulatedTree())
    {
        foreach (string path in durableDirectories)
        {
            _tree.AddDirectories(path, (directory, name, added) => directory.AddOriginal(name, added));
        }
    }

    private SimulatedDisk(SimulatedTree tree, long usedBytes = 0)
    {
        _tree = tree;
        _usedBytes = usedBytes;
    }

    /// <summary>Held during every call, so calls are serialized.</summary>
    internal Lock Gate => _gate;

    /// <summary>
    /// The number of operations (calls that change something, and syncs) that have returned. What a program has
    /// promised at this number must survive a power cut at this or any later operation.
    /// </summary>
    public int OperationCount { get; private set; }

    /// <summary>The size of the disk in bytes. A write that does not fit fails with ENOSPC.</summary>
    public long CapacityBytes { get; set; } = 1L << 40;

    /// <summary>Bytes that files take, by whole pages of 4 KiB.</summary>
    public long UsedBytes
    {
        get
        {
            lock (_gate)
            {
                return _usedBytes;
            }
        }
    }

    /// <summary>Paths of all files, in ordinal order.</summary>
    public IReadOnlyList<string> Files
    {
        get
        {
            lock (_gate)
            {
                return _tree.FilePaths();
            }
        }
    }

    /// <summary>
    /// Creates a disk of two empty devices. A power cut affects both at once, but chooses the surviving sectors and
    /// names of each independently.
    /// </summary>
    /// <param name="directory">A durable directory on the first.</param>
    /// <param name="secondDevice">The mount point of the second device: a directory in the root.</param>
    public static SimulatedDisk WithSecondDevice(string directory, string secondDevice)
    {
        var disk = new SimulatedDisk(new SimulatedTree { SecondDevice = secondDevice.TrimStart('/') });
        disk._tree.AddDirectories(directory, static (parent, name, added) => parent.AddOriginal(name, added));
        disk._tree.AddDirectories(secondDevice, static (parent, name, added) => parent.AddOriginal(name, added));
        return disk;
    }

    /// <summary>
    /// Returns the number of calls of these kinds so far, with failed ones. In a repetition of the same work, a fault
    /// can be planned at any call up to this number.
    /// </summary>
    public long CallCount(DiskCalls kinds)
    {
        lock (_gate)
        {
            return _faults.Count(kinds);
        }
    }

    /// <summary>Plans a failure.</summary>
    public void Inject(DiskFault fault)
    {
        lock (_gate)
        {
            _faults.Add(fault);
        }
    }

    /// <summary>Forgets all planned failures.</summary>
    public void ClearFaults()
    {
        lock (_gate)
        {
            _faults.Clear();
        }
    }

    /// <summary>
    /// Returns an image of the disk after a power cut, after <paramref name="operation"/> operations have returned. The
    /// same seed gives the same image.
    /// </summary>
    /// <remarks>
    /// An image is cheap: the directory tree is built now, and the content of a sector is chosen when it is first read.
    /// This disk must not change while other threads use its images.
    /// </remarks>
    public SimulatedDisk CrashAt(int operation, long seed)
    {
        lock (_gate)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(operation);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(operation, OperationCount);
            var image = new CrashImage(new PowerLoss(operation, seed), new PowerLoss(operation, ~seed));
            var imageRoot = image.Build(_tree.Root, _tree.Directories);
            return new SimulatedDisk(
                new SimulatedTree(imageRoot, image.LastId) { SecondDevice = _tree.SecondDevice },
                image.Files.Sum(file => file.AllocatedBytes)
            )
            {
                CapacityBytes = CapacityBytes,
            };
        }
    }

    /// <summary>Returns an image of the disk after a power cut now.</summary>
    public SimulatedDisk AfterPowerLoss(long seed) => CrashAt(OperationCount, seed);

    /// <summary>
    /// Ends the process: closes its files and releases its locks. Nothing that it wrote is lost, but nothing becomes
    /// durable either: a later power cut can still lose unsynced data.
    /// </summary>
    public void KillProcess()
    {
        lock (_gate)
        {
            _locks.Clear();
            foreach (var handle in _handles.ToArray())
            {
                handle.Dispose();
            }
        }
    }

    /// <summary>Flips the bits of <paramref name="mask"/> in a stored byte. Not an operation.</summary>
    public void Rot(string path, long offset, byte mask)
    {
        lock (_gate)
        {
            var file = _tree.FindFile("rot", path);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(offset, file.Length);
            file.Rot(OperationCount, offset, mask);
        }
    }

    public IDiskFile Open(string path, DiskOpen mode)
    {
        lock (_gate)
        {
            bool creates = mode is DiskOpen.CreateNew;
            Call(creates ? DiskCalls.Create : DiskCalls.Open, creates ? "create" : "open", path);
            var handle = new SimulatedFileHandle(
                this,
                creates ? Create(path) : _tree.FindFile("open", path),
                path,
                mode != DiskOpen.Read
            );
            _handles.Add(handle);
            return handle;
        }
    }

    public bool Exists(string path)
    {
        lock (_gate)
        {
            return _tree.Find(path) is not null;
        }
    }

    public IReadOnlyList<string> List(string directory)
    {
        lock (_gate)
        {
            Call(DiskCalls.List, "list", directory);
            var names = _tree.FindDirectory("list", directory).Names.Keys.ToList();
            names.Sort(StringComparer.Ordinal);
            return names;
        }
    }

    public void CreateDirectory(string path)
    {
        lock (_gate)
        {
            Call(DiskCalls.CreateDirectory, "create the directory", path);
            _tree.AddDirectories(
                path,
                (directory, name, added) =>
                    directory.Change(new NameChange(NextOperation(), removed: null, name, added))
            );
        }
    }

    public void Rename(string from, string to)
    {
        lock (_gate)
        {
            const string operation = "rename";
            Call(DiskCalls.Rename, operation, from);
            var (source, oldName) = _tree.FindParent(operation, from);
            var (target, newName) = _tree.FindParent(operation, to);
            var node =
                source.Names.GetValueOrDefault(oldName) ?? throw new DiskException(operation, from, Errno.NoEntry);
            var replaced = target.Names.GetValueOrDefault(newName);
            if (ReferenceEquals(node, replaced))
            {
                return;
            }

            var refusal = (node, replaced) switch
            {
                _ when source.IsOnSecondDevice != target.IsOnSecondDevice => Errno.CrossDevice,
                _ when to.StartsWith(from + "/", StringComparison.Ordinal) => Errno.Invalid,
                (SimulatedFile, SimulatedDirectory) => Errno.IsDirectory,
                (SimulatedDirectory, SimulatedFile) => Errno.NotDirectory,
                (SimulatedDirectory, SimulatedDirectory { Names.Count: > 0 }) => Errno.NotEmpty,
                _ => Errno.None,
            };
            if (refusal != Errno.None)
            {
                throw new DiskException(operation, to, refusal);
            }

            Unlink(replaced);
            Move(source, oldName, target, newName, node);
        }
    }

    public void Link(string existing, string added)
    {
        lock (_gate)
        {
            Call(DiskCalls.Link, "link", existing);
            var file = _tree.FindFile("link", existing);
            var (directory, name) = _tree.FindParent("link", added);
            if (directory.Names.ContainsKey(name))
            {
                throw new DiskException("link", added, Errno.Exists);
            }

            if (_tree.FindParent("link", existing).Directory.IsOnSecondDevice != directory.IsOnSecondDevice)
            {
                throw new DiskException("link", added, Errno.CrossDevice);
            }

            file.Links++;
            directory.Change(new NameChange(NextOperation(), removed: null, name, file));
        }
    }

    public void Delete(string path)
    {
        lock (_gate)
        {
            Call(DiskCalls.Delete, "delete", path);
            var file = _tree.FindFile("delete", path);
            var (directory, name) = _tree.FindParent("delete", path);
            directory.Change(new NameChange(NextOperation(), name, added: null, node: null));
            Unlink(file);
        }
    }

    public void DeleteDirectory(string path)
    {
        lock (_gate)
        {
            Call(DiskCalls.Delete, "delete the directory", path);
            if (_tree.FindDirectory("delete the directory", path).Names.Count > 0)
            {
                throw new DiskException("delete the directory", path, Errno.NotEmpty);
            }

            var (directory, name) = _tree.FindParent("delete the directory", path);
            directory.Change(new NameChange(NextOperation(), name, added: null, node: null));
        }
    }

    public void SyncDirectory(string path)
    {
        lock (_gate)
        {
            Call(DiskCalls.SyncDirectory, "sync the directory", path);
            _tree.FindDirectory("sync the directory", path).Sync(NextOperation());
        }
    }

    public DiskSpace SpaceOf(string path) => new(CapacityBytes, Math.Max(0, CapacityBytes - UsedBytes));

    public string DeviceOf(string path) => "simulated0";

    public IDisposable Lock(string path)
    {
        lock (_gate)
        {
            Call(DiskCalls.Lock, "lock", path);
            var file = _tree.Find(path) as SimulatedFile ?? Create(path);
            var held = new HeldLock(this, file);
            return _locks.TryAdd(file, held) ? held : throw new DiskException("lock", path, Errno.WouldBlock);
        }
    }

    /// <summary>
    /// Counts a call of an open file, and returns whether it fails. This method and all below require that
    /// <see cref="Gate"/> is held.
    /// </summary>
    internal DiskFault? NextFault(DiskCalls call, string path) => _faults.Next(call, path);

    internal int NextOperation() => ++OperationCount;

    /// <summary>Returns <paramref name="end"/>, or the lower length to which a file can grow on a full disk.</summary>
    internal long Fitting(SimulatedFile file, long end)
    {
        long mostBytes = file.AllocatedBytes + Math.Max(0, CapacityBytes - _usedBytes);
        return SimulatedFile.RoundUp(end) <= mostBytes
            ? end
            : Math.Min(end, SimulatedFile.RoundUp(mostBytes - SimulatedFile.PageBytes + 1));
    }

    /// <summary>Adds to the used space of the disk; a negative number releases space.</summary>
    internal void AddUsedBytes(long bytes) => _usedBytes += bytes;

    internal void Close(SimulatedFileHandle handle, SimulatedFile file)
    {
        _handles.Remove(handle);
        file.Handles--;
        FreeUnused(file);
    }

    /// <summary>Counts a call, and throws its planned failure if there is one.</summary>
    private void Call(DiskCalls call, string operation, string path)
    {
        if (_faults.Next(call, path) is { } fault)
        {
            throw new DiskException(operation, path, fault.Error);
        }
    }

    private SimulatedFile Create(string path)
    {
        var (directory, name) = _tree.FindParent("create", path);
        if (directory.Names.ContainsKey(name))
        {
            throw new DiskException("create", path, Errno.Exists);
        }

        var file = new SimulatedFile(_tree.NextId()) { Links = 1 };
        directory.Change(new NameChange(NextOperation(), removed: null, name, file));
        return file;
    }

    private void Move(
        SimulatedDirectory source,
        string oldName,
        SimulatedDirectory target,
        string newName,
        SimulatedNode node
    )
    {
        int operation = NextOperation();
        if (ReferenceEquals(source, target))
        {
            source.Change(new NameChange(operation, oldName, newName, node));
            return;
        }

        var addition = new NameChange(operation, removed: null, newName, node);
        target.Change(addition);
        source.Change(new NameChange(operation, oldName, added: null, node: null) { Needs = (target, addition) });
    }

    private void Unlink(SimulatedNode? node)
    {
        if (node is SimulatedFile file)
        {
            file.Links--;
            FreeUnused(file);
        }
    }

    private void FreeUnused(SimulatedFile file)
    {
        if (file is { Links: 0, Handles: 0 })
        {
            _usedBytes -= file.AllocatedBytes;
        }
    }

    /// <summary>A lock that is held until it is disposed or its process dies.</summary>
    private sealed class HeldLock(SimulatedDisk disk, SimulatedNode file) : IDisposable
    {
        public void Dispose()
        {
            lock (disk._gate)
            {
                if (disk._locks.TryGetValue(file, out var held) && ReferenceEquals(held, this))
                {
                    disk._locks.Remove(file);
                }
            }
        }
    }
}
