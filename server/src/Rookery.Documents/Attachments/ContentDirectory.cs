using System.Globalization;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>
/// The files of contents: <c>DATA/attachments/DATABASE/HH/HASH</c>, and <c>DATA/attachments/incoming/N.part</c> while
/// they are received. Call the members that create or rename files on one thread; <see cref="Delete"/> may run on
/// another.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="dataDirectory">The data directory.</param>
internal sealed class ContentDirectory(IDisk disk, string dataDirectory)
{
    /// <summary>Name of the directory of all contents, in the data directory.</summary>
    public const string Name = "attachments";

    private const string IncomingName = "incoming";
    private const string PartSuffix = ".part";

    private readonly string _root = Path.Combine(dataDirectory, Name);

    // Directories that this process has made durable, and directories in which it has made the files' names durable.
    private readonly HashSet<string> _durable = new(StringComparer.Ordinal);
    private readonly HashSet<string> _durableNames = new(StringComparer.Ordinal);
    private long _lastPart;
    private volatile bool _exists = disk.Exists(Path.Combine(dataDirectory, Name));

    /// <summary>The directory of all contents.</summary>
    public string Root => _root;

    /// <summary>Whether the node has or had contents. If not, there is nothing to delete or to scrub.</summary>
    public bool Exists => _exists;

    /// <summary>Returns the path of a content.</summary>
    public string PathOf(ContentPlace place)
    {
        string name = place.Hash.ToHex();
        return Path.Combine(_root, place.Database.ToString(CultureInfo.InvariantCulture), name[..2], name);
    }

    /// <summary>
    /// Deletes the files of uploads that did not end. Call it before the first upload. A file that cannot be deleted
    /// stays, and no upload gets its name.
    /// </summary>
    /// <returns>What cannot be deleted or listed, in a few sentences; null if nothing is left.</returns>
    public string? RemoveUnfinished()
    {
        string incoming = Path.Combine(_root, IncomingName);
        DiskException? first = null;
        foreach (string name in disk.Exists(incoming) ? ListOf(incoming, failure => first = failure) : [])
        {
            try
            {
                disk.Delete(Path.Combine(incoming, name));
            }
            catch (DiskException failure)
            {
                first ??= failure;
            }
        }

        return first is null
            ? null
            : $"Attachments whose uploads did not end could not be deleted, and take space. {first.Message} The next "
                + "start tries again.";
    }

    /// <summary>Creates the file of an upload.</summary>
    public IDiskFile Create()
    {
        string incoming = Path.Combine(_root, IncomingName);
        MakeDurable(incoming);
        string path;
        do
        {
            string name = (++_lastPart).ToString(CultureInfo.InvariantCulture) + PartSuffix;
            path = Path.Combine(incoming, name);
        } while (disk.Exists(path)); // left over from an earlier process

        return disk.Open(path, DiskOpen.CreateNew);
    }

    /// <summary>Gives a synced file the name of its content, durably. Replaces a file of that name.</summary>
    public void Rename(string part, ContentPlace place)
    {
        string path = PathOf(place);
        string directory = Path.GetDirectoryName(path)!;
        MakeDurable(directory);
        _durableNames.Remove(directory); // until the sync succeeds, IsDurable must sync again
        disk.Rename(part, path);
        disk.SyncDirectory(directory);
        _durableNames.Add(directory);
    }

    /// <summary>
    /// Returns whether the file of a content exists with a valid footer, and makes its name durable: an earlier process
    /// may have been killed before it synced the directory. Syncs each directory once, because <see cref="Rename"/>
    /// syncs every later name.
    /// </summary>
    public bool IsDurable(ContentPlace place)
    {
        string path = PathOf(place);
        if (!disk.Exists(path))
        {
            return false;
        }

        using (var file = disk.Open(path, DiskOpen.Read))
        {
            if (ContentFormat.ReadEnd(file, place, out _) is not null)
            {
                return false;
            }
        }

        string directory = Path.GetDirectoryName(path)!;
        if (!_durableNames.Contains(directory))
        {
            MakeDurable(directory);
            disk.SyncDirectory(directory);
            _durableNames.Add(directory);
        }

        return true;
    }

    /// <summary>
    /// Creates the file of a content under its name, for a restore. Durable after <see cref="SyncNamed"/>.
    /// </summary>
    public IDiskFile CreateNamed(ContentPlace place)
    {
        string path = PathOf(place);
        MakeDurable(Path.GetDirectoryName(path)!);
        return disk.Open(path, DiskOpen.CreateNew);
    }

    /// <summary>Makes the names of all files durable that <see cref="CreateNamed"/> created.</summary>
    public void SyncNamed()
    {
        foreach (string directory in _durable)
        {
            disk.SyncDirectory(directory);
        }
    }

    /// <summary>Deletes the file of a content, if there is one. Not durable: a start may find the file again.</summary>
    public void Delete(ContentPlace place)
    {
        string path = PathOf(place);
        if (disk.Exists(path))
        {
            disk.Delete(path);
        }
    }

    /// <summary>Returns all contents that have files, directory by directory.</summary>
    /// <param name="unlisted">Receives each directory that cannot be listed; it may hold more contents.</param>
    public IEnumerable<ContentPlace> List(Action<string> unlisted)
    {
        foreach (string database in ListOf(_root, _ => unlisted(_root)))
        {
            if (!uint.TryParse(database, NumberStyles.None, CultureInfo.InvariantCulture, out uint number))
            {
                continue; // the directory of uploads
            }

            string directory = Path.Combine(_root, database);
            foreach (string group in ListOf(directory, _ => unlisted(directory)))
            {
                string names = Path.Combine(directory, group);
                foreach (string name in ListOf(names, _ => unlisted(names)))
                {
                    if (ContentHash.TryParseHex(name, out var hash))
                    {
                        yield return new ContentPlace(number, hash);
                    }
                }
            }
        }
    }

    /// <summary>Returns whether a content is in one of these directories.</summary>
    public bool IsIn(IReadOnlySet<string> directories, ContentPlace place)
    {
        if (directories.Count == 0)
        {
            return false;
        }

        string group = Path.GetDirectoryName(PathOf(place))!;
        return directories.Contains(group)
            || directories.Contains(Path.GetDirectoryName(group)!)
            || directories.Contains(_root);
    }

    // A directory that exists may not be durable: an earlier process was killed between its creation and the sync of
    // its parent, or another upload has just created it. So a directory counts only once this process has synced it.
    private void MakeDurable(string directory)
    {
        if (_durable.Contains(directory))
        {
            return;
        }

        if (!string.Equals(directory, _root, StringComparison.Ordinal))
        {
            MakeDurable(Path.GetDirectoryName(directory)!);
        }

        DataDirectory.CreateDurably(disk, directory);
        _durable.Add(directory);
        _exists = true;
    }

    private IReadOnlyList<string> ListOf(string directory, Action<DiskException> failed)
    {
        try
        {
            return disk.List(directory);
        }
        catch (DiskException refused)
        {
            if (refused.Error is not (Errno.NoEntry or Errno.NotDirectory)) // deleted meanwhile, or a foreign file
            {
                failed(refused);
            }

            return [];
        }
    }
}

/// <summary>Identifies a content.</summary>
/// <param name="Database">Number of the database.</param>
/// <param name="Hash">The hash.</param>
internal readonly record struct ContentPlace(uint Database, ContentHash Hash);
