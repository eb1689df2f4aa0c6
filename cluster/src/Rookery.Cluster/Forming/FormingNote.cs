using System.Diagnostics.CodeAnalysis;
using Rookery.Cluster.Identity;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Forming;

/// <summary>
/// The durable state of a forming node: the file <c>forming</c> of its data directory, a <see cref="CheckedText"/> that
/// is replaced atomically. Immutable.
/// </summary>
internal sealed record FormingNote(FormingStep Step)
{
    private const string Heading = "rookery forming 1";

    /// <summary>The state of a node without a file: no vow.</summary>
    public static readonly FormingNote Open = new(FormingStep.Open);

    /// <summary>
    /// Random id of a candidacy: this node's own, or the candidacy that this node has vowed to join; null for none.
    /// </summary>
    public string? Candidacy { get; init; }

    /// <summary>The id of the candidate to which this node has vowed; null for none.</summary>
    public string? Founder { get; init; }

    /// <summary>The name of the candidate to which this node has vowed; null for none.</summary>
    public string? FounderName { get; init; }

    /// <summary>The nodes that a founder admits.</summary>
    public IReadOnlyList<FormingMember> Members { get; init; } = [];

    /// <summary>The join token of an admitted node.</summary>
    public string? Token { get; init; }

    /// <summary>The name of an admitted node, needed once its old identity is gone.</summary>
    public string? Name { get; init; }

    /// <summary>
    /// Why this node has stopped forming a cluster (FormingStep.Out), in sentences; null in other steps.
    /// </summary>
    public string? Why { get; init; }

    /// <summary>Returns the path of the file.</summary>
    public static string PathIn(string dataDirectory) => Path.Join(dataDirectory, NodeIds.FormingName);

    /// <summary>Reads the file.</summary>
    /// <exception cref="IdentityException">The file is damaged.</exception>
    public static FormingNote Read(IDisk disk, string dataDirectory)
    {
        string path = PathIn(dataDirectory);
        if (!disk.Exists(path))
        {
            return Open;
        }

        string? text = CheckedText.Decode(CheckedText.ReadBytes(disk, path));
        return text?.TrimEnd('\n').Split('\n') is [Heading, .. var lines] && TryParse(lines, out var note)
            ? note
            : throw new IdentityException(
                $"{path} is damaged, so this node does not know whether it promised to join another node, and "
                    + $"forms no cluster. If no other node waits for this one, stop this node, delete {path}, and "
                    + $"start it again."
            );
    }

    /// <summary>Replaces the file durably and atomically.</summary>
    public void Write(IDisk disk, string dataDirectory) =>
        CheckedText.Replace(disk, dataDirectory, NodeIds.FormingName, string.Join('\n', [Heading, .. Lines()]) + "\n");

    /// <summary>Deletes the file, if it exists.</summary>
    public static void Forget(IDisk disk, string dataDirectory)
    {
        if (disk.Exists(PathIn(dataDirectory)))
        {
            disk.Delete(PathIn(dataDirectory));
            disk.SyncDirectory(dataDirectory);
        }
    }

    private IEnumerable<string> Lines() =>
        Step switch
        {
            FormingStep.Candidate => [$"candidate {Candidacy}"],
            FormingStep.Vowed => [$"vowed {Candidacy} {Founder} {FounderName}"],
            FormingStep.Founded =>
            [
                $"founded {Candidacy}",
                .. Members.Select(static member =>
                    $"member {member.NodeId} {member.Name} {Convert.ToHexStringLower(member.Secret)}"
                ),
            ],
            FormingStep.Admitted => [$"admitted {Name} {Token}"],
            FormingStep.Out => [$"out {Why}"],
            _ => ["open"],
        };

    private static bool TryParse(string[] lines, [NotNullWhen(true)] out FormingNote? note)
    {
        string[][] words = [.. lines.Select(static line => line.Split(' '))];
        note = words switch
        {
            [["open"]] => Open,
            [["candidate", var candidacy]] => new FormingNote(FormingStep.Candidate) { Candidacy = candidacy },
            [["vowed", var candidacy, var founder, var name]] => new FormingNote(FormingStep.Vowed)
            {
                Candidacy = candidacy,
                Founder = founder,
                FounderName = name,
            },
            [["founded", var candidacy], .. var members]
                when members.All(static member => member is ["member", _, _, _]) => new FormingNote(FormingStep.Founded)
            {
                Candidacy = candidacy,
                Members =
                [
                    .. members.Select(static member => new FormingMember(
                        member[1],
                        member[2],
                        Convert.FromHexString(member[3])
                    )),
                ],
            },
            [["admitted", var name, var token]] => new FormingNote(FormingStep.Admitted) { Name = name, Token = token },
            [["out", ..]] => new FormingNote(FormingStep.Out) { Why = lines[0]["out ".Length..] },
            _ => null,
        };
        return note is not null;
    }
}

/// <summary>A node that a founder admits.</summary>
/// <param name="NodeId">The node's id before it joins.</param>
/// <param name="Name">The node's name.</param>
/// <param name="Secret">The secret of its join token.</param>
internal sealed record FormingMember(string NodeId, string Name, byte[] Secret);
