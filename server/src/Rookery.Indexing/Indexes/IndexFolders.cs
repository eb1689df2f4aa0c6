using System.Globalization;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Mapping;
using Rookery.Platform;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Manages the index folders of a node: <c>indexes/DATABASE/NUMBER</c> in its data directory. An index whose folder is
/// missing, damaged or of another history is rebuilt from the documents.
/// </summary>
public sealed class IndexFolders(IDisk disk, string root)
{
    /// <summary>Name of the subfolder with the rows of a map/reduce index.</summary>
    public const string Rows = "rows";

    /// <summary>Name of the subfolder that records which other documents each document loaded.</summary>
    public const string Loads = "loads";

    private const string IdentityName = "identity";
    private const string TriedName = "tried";
    private const string NamesName = "names";
    private const int MaxIdentityBytes = 256;

    // Longer than all names that an index may have, in base64.
    private const int MaxNamesBytes = 1 << 20;

    /// <summary>
    /// Returns the folder of an index. Creates a missing folder. Empties the folder first if its files belong to
    /// another history or content version.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="number">The number of the index.</param>
    /// <param name="contentVersion">The <see cref="IIndexMap.ContentVersion"/> of the index.</param>
    public string Open(Database database, long number, int contentVersion)
    {
        string path = PathOf(database.Number, number);
        string identity = IdentityOf(database, number, contentVersion);
        if (
            disk.Exists(path)
            && !string.Equals(ReadText(Path.Combine(path, IdentityName)), identity, StringComparison.Ordinal)
        )
        {
            Delete(database.Number, number);
        }

        if (!disk.Exists(path))
        {
            // Parents first, so that the parent of each durable folder is durable.
            foreach (string directory in (string[])[root, PathOf(database.Number), path])
            {
                disk.CreateDirectory(directory);
                disk.SyncDirectory(Path.GetDirectoryName(directory)!);
            }

            using (var file = disk.Open(Path.Combine(path, IdentityName), DiskOpen.CreateNew))
            {
                file.Write(Encoding.ASCII.GetBytes(identity), 0);
                file.Sync();
            }

            disk.SyncDirectory(path);
        }

        return path;
    }

    /// <summary>Returns a subfolder of an index folder. Creates it if it is missing.</summary>
    /// <param name="folder">The folder of the index.</param>
    /// <param name="part"><see cref="Rows"/> or <see cref="Loads"/>.</param>
    public string OpenPart(string folder, string part)
    {
        string path = Path.Combine(folder, part);
        if (!disk.Exists(path))
        {
            disk.CreateDirectory(path);
            disk.SyncDirectory(folder);
        }

        return path;
    }

    /// <summary>
    /// Returns whether the index folder records that the reduce of the index passed its trial. A trial
    /// (<c>ReduceTrial</c>) takes up to two seconds.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="number">The number of the index.</param>
    /// <param name="mark">The mark that <see cref="RecordTrial"/> recorded.</param>
    public bool IsTried(uint database, long number, string mark)
    {
        try
        {
            return string.Equals(
                ReadText(Path.Combine(PathOf(database, number), TriedName)),
                mark,
                StringComparison.Ordinal
            );
        }
        catch (DiskException)
        {
            return false; // the trial runs again
        }
    }

    /// <summary>
    /// Records in the index folder that the reduce passed its trial. If the record cannot be written, or is lost, the
    /// trial runs again.
    /// </summary>
    /// <param name="folder">The folder of the index.</param>
    /// <param name="mark">Names the definition and the version of the trial, in ASCII.</param>
    public void RecordTrial(string folder, string mark)
    {
        string path = Path.Combine(folder, TriedName);
        try
        {
            if (disk.Exists(path))
            {
                disk.Delete(path);
            }

            using var file = disk.Open(path, DiskOpen.CreateNew);
            file.Write(Encoding.ASCII.GetBytes(mark), 0);
            file.Sync();
        }
        catch (DiskException)
        {
            // Without the record, the index still opens. Only the next opening takes longer.
        }
    }

    /// <summary>Reads the fields that the documents of an index name; null if the file is missing.</summary>
    /// <exception cref="DataFormatException">The file is damaged.</exception>
    internal string? ReadNames(string folder)
    {
        string path = Path.Combine(folder, NamesName);
        if (!disk.Exists(path))
        {
            return null;
        }

        using var file = disk.Open(path, DiskOpen.Read);
        byte[] bytes = new byte[Math.Min(file.Length, MaxNamesBytes)];
        string text = Encoding.ASCII.GetString(bytes, 0, file.Read(bytes, 0));
        int check = text.LastIndexOf("check ", StringComparison.Ordinal);
        return
            check >= 0 && string.Equals(text[check..], DataDirectory.CheckLine(text[..check]), StringComparison.Ordinal)
            ? text[..check]
            : throw new DataFormatException($"{path} is damaged: its checksum does not match.");
    }

    /// <summary>Writes the fields that the documents of an index name, durably.</summary>
    internal void WriteNames(string folder, string text) =>
        DataDirectory.Replace(disk, folder, NamesName, text + DataDirectory.CheckLine(text));

    /// <summary>Returns whether an index has a folder.</summary>
    public bool Exists(uint database, long number) => disk.Exists(PathOf(database, number));

    /// <summary>
    /// Removes the folders of the databases for whose numbers <paramref name="isDeleted"/> returns true. A folder that
    /// the disk refuses to remove stays until the next call.
    /// </summary>
    public void DeleteDatabases(Func<uint, bool> isDeleted)
    {
        IEnumerable<long> numbers = disk.Exists(root) ? ListNumbers(root) : [];
        foreach (long number in numbers.Where(number => number <= uint.MaxValue && isDeleted((uint)number)))
        {
            try
            {
                Delete((uint)number);
            }
            catch (DiskException)
            {
                // The remaining files are removed when a database is created or deleted, or at the next start.
            }
        }
    }

    /// <summary>Returns the numbers of a database's indexes that have folders.</summary>
    public IReadOnlyList<long> ListIndexes(uint database) =>
        disk.Exists(PathOf(database)) ? ListNumbers(PathOf(database)) : [];

    /// <summary>
    /// Removes the folder of an index. Deletes the identity file first, so after a power loss the remaining files are
    /// not opened as an index.
    /// </summary>
    public void Delete(uint database, long number)
    {
        string path = PathOf(database, number);
        if (!disk.Exists(path))
        {
            return;
        }

        string identity = Path.Combine(path, IdentityName);
        if (disk.Exists(identity))
        {
            disk.Delete(identity);
            disk.SyncDirectory(path);
        }

        DeleteDirectory(path);
    }

    /// <summary>Removes all folders of a database.</summary>
    public void Delete(uint database)
    {
        foreach (long number in ListIndexes(database))
        {
            Delete(database, number);
        }

        if (disk.Exists(PathOf(database)) && disk.List(PathOf(database)).Count == 0)
        {
            disk.DeleteDirectory(PathOf(database));
        }
    }

    private void DeleteDirectory(string path)
    {
        foreach (string name in disk.List(path))
        {
            string inside = Path.Combine(path, name);
            try
            {
                disk.Delete(inside);
            }
            catch (DiskException refused) when (refused.Error is Errno.IsDirectory or Errno.NotPermitted)
            {
                DeleteDirectory(inside);
            }
        }

        disk.DeleteDirectory(path);
    }

    private static string IdentityOf(Database database, long number, int contentVersion)
    {
        string version =
            contentVersion == 1 ? "" : string.Create(CultureInfo.InvariantCulture, $", version {contentVersion}");
        string line = string.Create(
            CultureInfo.InvariantCulture,
            $"rookery index {number} of {database.HistoryId}{version}\n"
        );
        return line + DataDirectory.CheckLine(line);
    }

    private string ReadText(string file)
    {
        if (!disk.Exists(file))
        {
            return string.Empty;
        }

        using var open = disk.Open(file, DiskOpen.Read);
        byte[] bytes = new byte[Math.Min(open.Length, MaxIdentityBytes)];
        return Encoding.ASCII.GetString(bytes, 0, open.Read(bytes, 0));
    }

    private long[] ListNumbers(string path) =>
        [
            .. disk.List(path)
                .Select(static name =>
                    long.TryParse(name, NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number : -1
                )
                .Where(static number => number >= 0),
        ];

    private string PathOf(uint database) => Path.Combine(root, database.ToString(CultureInfo.InvariantCulture));

    private string PathOf(uint database, long number) =>
        Path.Combine(PathOf(database), number.ToString(CultureInfo.InvariantCulture));
}
