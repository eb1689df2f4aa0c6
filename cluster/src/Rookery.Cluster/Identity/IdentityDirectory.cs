using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A member's identity on disk: the directory <c>cluster/</c> in its data directory. Its files are <c>cluster</c>
/// (<see cref="IdentityText"/>), <c>node.key</c> and <c>authority.key</c> (readable only by the owner), <c>node.pem</c>
/// and <c>authority.pem</c>. Each is a <see cref="CheckedText"/>. A node that has never been in a cluster has no such
/// directory.
/// </summary>
/// <remarks>
/// The directory is created under another name and renamed when complete, so that a power cut leaves either all files
/// or none. Later each file is replaced atomically.
/// </remarks>
public static class IdentityDirectory
{
    /// <summary>The directory's name after <see cref="MoveAside"/>.</summary>
    public const string MovedAsideName = DirectoryName + ".replaced";

    private const string DirectoryName = "cluster";
    private const string TextName = "cluster";
    private const string KeyName = "node.key";
    private const string CertificateName = "node.pem";
    private const string AuthoritiesName = "authority.pem";
    private const string AuthorityKeyName = "authority.key";
    private const string SealedKeyLabel = "ROOKERY SEALED KEY";
    private const string Remedy =
        "Put the directory back from a copy of this data directory; `rookery backup` does not hold it. Without a copy: "
        + "where other members run, let this machine join anew with an empty data directory and remove its old id from "
        + "the cluster. The only member of its cluster keeps its documents: `rookery backup --data` copies them, "
        + "`rookery restore` puts them into a new directory, and `rookery cluster init` makes a new identity there.";

    /// <summary>Returns the directory's path.</summary>
    public static string PathIn(string dataDirectory) => Path.Join(dataDirectory, DirectoryName);

    /// <summary>Whether the data directory contains an identity: its node is, or was, a member of a cluster.</summary>
    public static bool ExistsIn(IDisk disk, string dataDirectory) => disk.Exists(PathIn(dataDirectory));

    /// <summary>Reads and checks the identity.</summary>
    /// <returns>Null when the node has never been in a cluster.</returns>
    /// <exception cref="IdentityException">A file is missing or damaged, or the files do not match each other or the
    /// node's data.</exception>
    public static NodeIdentity? TryLoad(IDisk disk, string dataDirectory)
    {
        string path = PathIn(dataDirectory);
        if (!disk.Exists(path))
        {
            return null;
        }

        var identity = Load(disk, path);
        string? inconsistent = identity.WhyInconsistent() is { } why ? $"{why} {Remedy}" : null;
        if ((inconsistent ?? WhyForeign(disk, dataDirectory, identity)) is { } mismatch)
        {
            identity.Dispose();
            throw new IdentityException($"{path} cannot be used: {mismatch}");
        }

        return identity;
    }

    /// <summary>
    /// Returns the authorities that the node of this data directory trusts, for other programs on its machine.
    /// </summary>
    /// <exception cref="IdentityException">The file is missing or damaged.</exception>
    public static X509Certificate2Collection AuthoritiesIn(IDisk disk, string dataDirectory) =>
        ReadCertificates(disk, PathIn(dataDirectory), AuthoritiesName);

    /// <summary>Returns the path of the retirement note for a cause.</summary>
    public static string NotePathIn(string dataDirectory, RetirementCause cause) =>
        Path.Join(PathIn(dataDirectory), NoteNameOf(cause));

    /// <summary>
    /// Reads the retirement note, which says why this node must not participate any more; null when there is none.
    /// </summary>
    /// <exception cref="IdentityException">The note is damaged.</exception>
    public static Retirement? ReadRetirement(IDisk disk, string dataDirectory)
    {
        string path = PathIn(dataDirectory);
        RetirementCause[] causes = [RetirementCause.Excluded, RetirementCause.Halted];
        foreach (var cause in causes)
        {
            if (disk.Exists(Path.Join(path, NoteNameOf(cause))))
            {
                return new Retirement(cause, Read(disk, path, NoteNameOf(cause)).TrimEnd('\n'));
            }
        }

        return null;
    }

    /// <summary>Writes a retirement note durably. Every later start finds it and does not participate.</summary>
    /// <exception cref="DiskException">The disk failed.</exception>
    public static void Retire(IDisk disk, string dataDirectory, Retirement retirement) =>
        ReplaceIfChanged(disk, PathIn(dataDirectory), NoteNameOf(retirement.Cause), retirement.Why + "\n");

    /// <summary>Writes a new identity durably and atomically.</summary>
    /// <exception cref="IdentityException">The data directory already has an identity.</exception>
    public static void Create(IDisk disk, string dataDirectory, NodeIdentity identity)
    {
        string path = PathIn(dataDirectory);
        if (disk.Exists(path))
        {
            throw new IdentityException($"{path} is there already: the node of {dataDirectory} is in a cluster.");
        }

        string unfinished = path + ".new";
        DeleteUnfinished(disk, unfinished);
        disk.CreateDirectory(unfinished);
        ReplaceIfChanged(disk, unfinished, KeyName, identity.Key.ExportPkcs8PrivateKeyPem() + "\n");
        WritePublic(disk, unfinished, identity);
        disk.Rename(unfinished, path);
        disk.SyncDirectory(dataDirectory);
    }

    /// <summary>
    /// Writes all files that may change while the node is a member: certificate, authorities, the authority's key,
    /// names and peers. The node's key pair is not written.
    /// </summary>
    public static void Update(IDisk disk, string dataDirectory, NodeIdentity identity) =>
        WritePublic(disk, PathIn(dataDirectory), identity);

    /// <summary>
    /// Renames the identity's directory durably, so that the node has no identity any more. The old files stay
    /// readable.
    /// </summary>
    public static void MoveAside(IDisk disk, string dataDirectory)
    {
        disk.Rename(PathIn(dataDirectory), Path.Join(dataDirectory, MovedAsideName));
        disk.SyncDirectory(dataDirectory);
    }

    /// <summary>Whether an identity exists that <see cref="MoveAside"/> renamed.</summary>
    public static bool IsMovedAsideIn(IDisk disk, string dataDirectory) =>
        disk.Exists(Path.Join(dataDirectory, MovedAsideName));

    private static NodeIdentity Load(IDisk disk, string path)
    {
        var text =
            IdentityText.Parse(Read(disk, path, TextName))
            ?? throw new IdentityException(
                $"{Path.Join(path, TextName)} was written by another version of Rookery. Start the version "
                    + $"that wrote it."
            );
        var certificates = ReadCertificates(disk, path, CertificateName);
        return new NodeIdentity
        {
            ClusterId = text.ClusterId,
            ClusterName = text.ClusterName,
            NodeId = text.NodeId,
            NodeName = text.NodeName,
            Tag = text.Tag,
            Peers = text.Peers,
            ConfiguredAddresses = text.ConfiguredAddresses,
            ConfiguredUrl = text.ConfiguredUrl,
            IsMirror = text.IsMirror,
            Certificate = certificates[0],
            EarlierCertificate = certificates.Count > 1 ? certificates[1] : null,
            Key = ReadKey(disk, path),
            Authorities = [.. ReadCertificates(disk, path, AuthoritiesName)],
            SealedAuthorityKey = ReadSealedKey(disk, path),
        };
    }

    /// <summary>
    /// Returns why the identity does not belong to the data in its data directory, and what to do; null when it does.
    /// They differ only after a mistake in copying. Such a node would count as another node, whose acknowledged entries
    /// it does not have.
    /// </summary>
    private static string? WhyForeign(IDisk disk, string dataDirectory, NodeIdentity identity)
    {
        try
        {
            return
                NodeIds.TryRead(disk, dataDirectory) is { } data
                && data != new NodeIds(identity.NodeId, identity.ClusterId)
                ? $"It is that of node {identity.NodeId} of cluster {identity.ClusterId}, and the data beside "
                    + $"it are those of node {data.NodeId} of cluster {data.ClusterId}. {Remedy}"
                : null;
        }
        catch (DataFormatException unreadable)
        {
            // The identity is in order, so the message of the damaged file says what to do instead of the remedy.
            return $"the ids of the data beside it cannot be read: {unreadable.Message}";
        }
    }

    /// <summary>
    /// Writes the files that may change. The authorities are written before the certificate: after a power cut between
    /// the two writes, a certificate without its authority would fail the check at the next start.
    /// </summary>
    private static void WritePublic(IDisk disk, string path, NodeIdentity identity)
    {
        ReplaceIfChanged(
            disk,
            path,
            AuthorityKeyName,
            PemEncoding.WriteString(SealedKeyLabel, identity.SealedAuthorityKey) + "\n"
        );
        ReplaceIfChanged(disk, path, AuthoritiesName, ToPem(identity.Authorities));
        X509Certificate2?[] certificates = [identity.Certificate, identity.EarlierCertificate];
        ReplaceIfChanged(disk, path, CertificateName, ToPem(certificates.OfType<X509Certificate2>()));
        ReplaceIfChanged(disk, path, TextName, IdentityText.Of(identity).ToString());
    }

    private static string ToPem(IEnumerable<X509Certificate2> certificates) =>
        string.Concat(certificates.Select(static certificate => certificate.ExportCertificatePem() + "\n"));

    private static void ReplaceIfChanged(IDisk disk, string path, string name, string text)
    {
        string target = Path.Join(path, name);
        if (
            !disk.Exists(target)
            || !CheckedText.ReadBytes(disk, target).AsSpan().SequenceEqual(CheckedText.Encode(text))
        )
        {
            CheckedText.Replace(disk, path, name, text);
        }
    }

    private static void DeleteUnfinished(IDisk disk, string path)
    {
        if (!disk.Exists(path))
        {
            return;
        }

        foreach (string name in disk.List(path))
        {
            disk.Delete(Path.Join(path, name));
        }

        disk.DeleteDirectory(path);
    }

    private static X509Certificate2Collection ReadCertificates(IDisk disk, string path, string name)
    {
        var certificates = new X509Certificate2Collection();
        try
        {
            certificates.ImportFromPem(Read(disk, path, name));
        }
        catch (CryptographicException)
        {
            // Handled below like a file without a certificate.
        }

        return certificates.Count > 0
            ? certificates
            : throw new IdentityException($"{Path.Join(path, name)} holds no certificate that can be read. {Remedy}");
    }

    private static ECDsa ReadKey(IDisk disk, string path)
    {
        var key = ECDsa.Create();
        try
        {
            key.ImportFromPem(Read(disk, path, KeyName));
            return key;
        }
        catch (Exception unreadable) when (unreadable is CryptographicException or ArgumentException)
        {
            key.Dispose();
            throw new IdentityException($"{Path.Join(path, KeyName)} holds no key that can be read. {Remedy}");
        }
    }

    private static byte[] ReadSealedKey(IDisk disk, string path)
    {
        string text = Read(disk, path, AuthorityKeyName);
        return PemEncoding.TryFind(text, out var fields) && text.AsSpan()[fields.Label] is SealedKeyLabel
            ? Convert.FromBase64String(text[fields.Base64Data])
            : throw new IdentityException(
                $"{Path.Join(path, AuthorityKeyName)} holds no sealed key that can be read. {Remedy}"
            );
    }

    private static string Read(IDisk disk, string path, string name)
    {
        try
        {
            byte[] content = CheckedText.ReadBytes(disk, Path.Join(path, name));
            string trouble = content.Length == 0 ? "is empty" : "is damaged: its checksum does not match";
            return CheckedText.Decode(content)
                ?? throw new IdentityException($"{Path.Join(path, name)} {trouble}. {Remedy}");
        }
        catch (DiskException missing) when (missing.Error == Errno.NoEntry)
        {
            throw new IdentityException(
                $"{Path.Join(path, name)} is missing, and without it this node cannot show who it is. {Remedy}"
            );
        }
    }

    private static string NoteNameOf(RetirementCause cause) =>
        cause == RetirementCause.Excluded ? "excluded" : "halted";
}
