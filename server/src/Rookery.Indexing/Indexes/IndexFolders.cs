using System.Globalization;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Mapping;
using Rookery.Platform;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Where the indexes of a node lie: <c>indexes/DATABASE/NUMBER</c> in its data directory. All of it can be rebuilt:
/// what is missing, damaged or of another history is built again from the documents.
/// </summary>
public sealed class IndexFolders(IDisk disk, string root)
{
    /// <summary>Where the rows of a map/reduce index lie in its folder.</summary>
    public const string Rows = "rows";

    /// <summary>Folder of its loaded-document records.</summary>
    public const string Loads = "loads";

    private const string IdentityName = "identity";
    private const string TriedName = "tried";
    private const int MostIdentityBytes = 256;

    /// <summary>
    /// The folder of an index. Made when it is missing; emptied when what is in it is of another history or content
    /// version.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="number">The index.</param>
    /// <param name="contentVersion">Its <see cref="IIndexMap.ContentVersion"/>.</param>
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
            // From the top, so that no folder is durable whose parent is not.
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

    /// <summary>
    /// Makes sure that a folder of an index has a folder in it for something that is kept beside its entries.
    /// </summary>
    /// <param name="folder">The folder.</param>
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
    /// Whether an index's folder says that its reduce passed its trial. A trial runs the reduce on rows that are made
    /// up, at once and in parts: both ways must give one row. It takes up to two seconds of an opening.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="number">The index.</param>
    /// <param name="mark">What <see cref="NoteTried"/> noted.</param>
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
            return false; // it is tried again
        }
    }

    /// <summary>
    /// Notes in an index's folder that its reduce passed its trial. Where the disk refuses the note, or it is lost, the
    /// reduce is tried again.
    /// </summary>
    /// <param name="folder">The folder.</param>
    /// <param name="mark">Names the definition and the version that tried it, in ASCII.</param>
    public void NoteTried(string folder, string mark)
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
            // Without the note the next opening takes longer: no reason to be without the index.
        }
    }

    /// <summary>Whether there is a folder of an index.</summary>
    public bool Exists(uint database, long number) => disk.Exists(PathOf(database, number));

    /// <summary>The numbers of the databases that have folders.</summary>
    public IReadOnlyList<uint> Databases() =>
        disk.Exists(root)
            ? [.. Numbers(root).Where(static number => number <= uint.MaxValue).Select(static number => (uint)number)]
            : [];

    /// <summary>The numbers of the indexes of a database that have folders.</summary>
    public IReadOnlyList<long> Indexes(uint database) => disk.Exists(PathOf(database)) ? Numbers(PathOf(database)) : [];

    /// <summary>
    /// Removes the folder of an index. The identity goes first: what is left when power goes is then recognised as
    /// nothing.
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

    /// <summary>Removes the folders of a database.</summary>
    public void Delete(uint database)
    {
        foreach (long number in Indexes(database))
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
        byte[] bytes = new byte[Math.Min(open.Length, MostIdentityBytes)];
        return Encoding.ASCII.GetString(bytes, 0, open.Read(bytes, 0));
    }

    private long[] Numbers(string path) =>
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
