using System.Diagnostics.CodeAnalysis;
using Rookery.Cluster.Identity;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Forming;

/// <summary>
/// What a node has bound itself to: the file <c>forming</c> of its data directory, a <see cref="CheckedText"/> that is
/// replaced by one rename. Immutable.
/// </summary>
internal sealed record FormingNote(FormingStep Step)
{
    private const string Heading = "rookery forming 1";

    /// <summary>Bound to nobody: what a node is that has no file.</summary>
    public static readonly FormingNote Open = new(FormingStep.Open);

    /// <summary>The candidacy that it is or founded by, or has vowed to.</summary>
    public string? Candidacy { get; init; }

    /// <summary>To whom it has vowed.</summary>
    public string? Founder { get; init; }

    /// <summary>What that one is called.</summary>
    public string? FounderName { get; init; }

    /// <summary>Whom a founder lets in.</summary>
    public IReadOnlyList<FormingMember> Members { get; init; } = [];

    /// <summary>The token that lets it in.</summary>
    public string? Token { get; init; }

    /// <summary>What it is called, for when its old identity is gone.</summary>
    public string? Name { get; init; }

    /// <summary>Why it takes no part, in sentences.</summary>
    public string? Why { get; init; }

    /// <summary>Where it lies.</summary>
    public static string PathIn(string dataDirectory) => Path.Join(dataDirectory, NodeIds.FormingName);

    /// <summary>Reads it.</summary>
    /// <exception cref="IdentityException">It is damaged.</exception>
    public static FormingNote Read(IDisk disk, string dataDirectory)
    {
        string path = PathIn(dataDirectory);
        if (!disk.Exists(path))
        {
            return Open;
        }

        return
            CheckedText.Decode(CheckedText.ReadBytes(disk, path))?.TrimEnd('\n').Split('\n') is [Heading, .. var lines]
            && TryParse(lines, out var note)
            ? note
            : throw new IdentityException(
                $"{path} is damaged: whether this node has vowed to join another cannot be read, so it forms "
                    + $"no cluster. If it shall, and no other card waits for it, stop it, delete that file, and "
                    + $"start it again."
            );
    }

    /// <summary>Replaces it, durably and at once.</summary>
    public void Write(IDisk disk, string dataDirectory) =>
        CheckedText.Replace(disk, dataDirectory, NodeIds.FormingName, string.Join('\n', [Heading, .. Lines()]) + "\n");

    /// <summary>Deletes it, when there is one.</summary>
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

/// <summary>Whom a founder lets in.</summary>
/// <param name="NodeId">Its id as a node alone.</param>
/// <param name="Name">Its name.</param>
/// <param name="Secret">That of its join token.</param>
internal sealed record FormingMember(string NodeId, string Name, byte[] Secret);
