using System.Security.Cryptography;
using Rookery.Cluster.Joining;
using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Cluster.Forming;

/// <summary>
/// The state machine of a node that forms a cluster. A node vows to one candidacy at a time: it promises to join the
/// cluster that this candidate founds. The vow is durable before it is sent, and only the candidate can release it. A
/// candidate with the vows of all expected nodes durably becomes founder, which is final. So no node is admitted to two
/// clusters. Thread-safe.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="dataDirectory">The directory of the note.</param>
/// <param name="self">This node.</param>
/// <param name="isUnclaimed">Whether a join may replace this node.</param>
/// <param name="time">The clock.</param>
internal sealed class FormingNode(
    IDisk disk,
    string dataDirectory,
    FormingSelf self,
    Func<bool> isUnclaimed,
    TimeProvider time
)
{
    // How long a vow counts after the last call of its node: a few rounds. Vows of nodes that are off must not count.
    private static readonly TimeSpan VowLifetime = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, (string Name, long HeardAt)> _vows = new(StringComparer.Ordinal);
    private FormingNote _note = FormingNote.Read(disk, dataDirectory);
    private IReadOnlyList<FormingAnswer> _lastAnswers = [];
    private bool _hasConcluded;

    /// <summary>The node's durable state.</summary>
    public FormingNote Note
    {
        get
        {
            lock (_gate)
            {
                return _note;
            }
        }
    }

    /// <summary>Returns the call to send to a node. It contains the vow if this node vowed to that node.</summary>
    public FormingCall CallTo(string nodeId)
    {
        var note = Note;
        bool hasVowedToIt = note.Step == FormingStep.Vowed && IsSame(note.Founder, nodeId);
        return new FormingCall
        {
            NodeId = self.NodeId,
            Name = self.Name,
            Expect = self.Expect,
            Vow = hasVowedToIt ? note.Candidacy : null,
        };
    }

    /// <summary>
    /// Answers a caller that has proved that it knows the phrase. Null before the first <see cref="Conclude"/>, because
    /// this node does not know yet whether it was claimed.
    /// </summary>
    /// <exception cref="DiskException">The disk failed. The caller must not be answered.</exception>
    public FormingAnswer? Answer(FormingCall call)
    {
        lock (_gate)
        {
            if (!_hasConcluded)
            {
                return null;
            }

            LeaveIfUsed();
            string? trouble = null;
            if (
                _note.Step == FormingStep.Candidate
                && string.Equals(call.Vow, _note.Candidacy, StringComparison.Ordinal)
            )
            {
                trouble = WhyNotCounted(call);
                if (trouble is null)
                {
                    _vows[call.NodeId] = (call.Name, time.GetTimestamp());
                    FoundIfAllVowed();
                }
            }

            return new FormingAnswer
            {
                NodeId = self.NodeId,
                Name = self.Name,
                Expect = self.Expect,
                Step = _note.Step,
                Candidacy = _note.Candidacy,
                Founder = _note.Founder,
                Vows = FreshVows().Count,
                Trouble = trouble,
                Members = [.. _note.Members.Select(static member => member.NodeId)],
            };
        }
    }

    /// <summary>
    /// Acts on the answers of a round. The round's requests must be sent after the previous call of this method. First
    /// called once this node has caught up, so that it knows whether it was claimed.
    /// </summary>
    /// <exception cref="DiskException">The disk failed, and the state is unchanged.</exception>
    public void Conclude(IReadOnlyList<FormingAnswer> answers)
    {
        lock (_gate)
        {
            _lastAnswers = answers;
            LeaveIfUsed();
            _hasConcluded = true;
            FormingAnswer[] sameSize = [.. answers.Where(answer => answer.Expect == self.Expect)];
            switch (_note.Step)
            {
                case FormingStep.Open
                or FormingStep.Candidate
                    when Array.Find(sameSize, static answer => answer.Step == FormingStep.Founded) is { } founder:
                    // Another node has founded a cluster.
                    JoinOrLeave(founder);
                    break;
                case FormingStep.Open:
                    VowOrBecomeCandidate(sameSize);
                    break;
                case FormingStep.Candidate
                    when Array.Exists(
                        sameSize,
                        answer => answer.Step == FormingStep.Candidate && IsBefore(answer.NodeId)
                    ):
                    // Of two candidates, the one with the higher id gives up its candidacy.
                    Write(FormingNote.Open);
                    _vows.Clear();
                    break;
                case FormingStep.Vowed
                    when answers.FirstOrDefault(answer => IsSame(answer.NodeId, _note.Founder)) is { } founder:
                    FollowCandidate(founder);
                    break;
                case FormingStep.Vowed
                    when Array.Find(sameSize, answer => answer.Members.Contains(_note.Founder!, StringComparer.Ordinal))
                        is { } other:
                    // The candidate that this node vowed to has itself joined another founder, so it has given up its
                    // candidacy.
                    JoinOrLeave(other);
                    break;
            }
        }
    }

    /// <summary>Describes what the node waits for, in sentences.</summary>
    /// <param name="notYetJoined">The names of the founder's recorded members that have not joined yet.</param>
    public string Describe(IReadOnlyList<string> notYetJoined)
    {
        lock (_gate)
        {
            string others =
                string.Concat(
                    _lastAnswers
                        .Where(answer => answer.Expect != self.Expect)
                        .Select(answer =>
                            $" {answer.Name} expects {answer.Expect} nodes, and this one {self.Expect}: use "
                            + $"the same settings on each node."
                        )
                )
                + string.Concat(
                    _lastAnswers
                        .Select(static answer => answer.Trouble)
                        .OfType<string>()
                        .Select(static trouble => " " + trouble)
                );
            string cluster = $"the cluster {self.ClusterName} of {self.Expect}";
            int agreeing = _lastAnswers.Count(answer => answer.Expect == self.Expect && answer.Step != FormingStep.Out);
            return _note.Step switch
            {
                FormingStep.Open => $"This node waits to form {cluster}. It sees {Names(_lastAnswers.Select(Named))}"
                    + $"{Missing(self.Expect - 1 - agreeing)}.{others}",
                FormingStep.Candidate => $"This node founds {cluster} when all have promised to join: "
                    + $"{Names(FreshVows().Select(static vow => vow.Name))} "
                    + $"did{Missing(self.Expect - 1 - FreshVows().Count)}.{others}",
                FormingStep.Vowed
                    when _lastAnswers.FirstOrDefault(answer => IsSame(answer.NodeId, _note.Founder)) is { } founder =>
                    $"This node has promised to join {_note.FounderName} in {cluster}, which has {founder.Vows} of "
                        + $"{self.Expect - 1} promises.{others}",
                FormingStep.Vowed =>
                    $"This node has promised to join {_note.FounderName} in {cluster}, which does not answer. This "
                        + $"node continues when that node answers again. If that node's card is gone for good, "
                        + $"stop this node, delete {FormingNote.PathIn(dataDirectory)}, and start it again.{others}",
                FormingStep.Founded when notYetJoined.Count == 0 => $"This node has founded {cluster}.",
                FormingStep.Founded =>
                    $"This node has founded {cluster}. {Names(notYetJoined)} promised to join and did not yet. A "
                        + $"node that is off joins when it is started. If a card is gone for good, let another node "
                        + $"join instead, with a token of `rookery cluster token create`.",
                FormingStep.Admitted => $"This node joins {cluster}.",
                _ => _note.Why!,
            };
        }
    }

    private static bool IsSame(string? first, string? second) => string.Equals(first, second, StringComparison.Ordinal);

    private static string Named(FormingAnswer answer) =>
        answer.Step switch
        {
            FormingStep.Vowed => $"{answer.Name} (which has promised to join another)",
            FormingStep.Out => $"{answer.Name} (which takes no part)",
            _ => answer.Name,
        };

    private static string Missing(int nodes) =>
        nodes switch
        {
            <= 0 => string.Empty,
            1 => "; 1 more is missing",
            _ => $"; {nodes} more are missing",
        };

    private static string Names(IEnumerable<string> names) =>
        names.ToArray() is { Length: > 0 } some ? string.Join(", ", some.Order(StringComparer.Ordinal)) : "nobody";

    private bool IsBefore(string nodeId) => string.CompareOrdinal(nodeId, self.NodeId) < 0;

    private List<(string NodeId, string Name)> FreshVows() =>
        [
            .. from vow in _vows
            where time.GetElapsedTime(vow.Value.HeardAt) <= VowLifetime
            select (vow.Key, vow.Value.Name),
        ];

    /// <summary>
    /// Stops forming a cluster when this node is in use. Nodes that vowed to this node learn that from its answers.
    /// </summary>
    private void LeaveIfUsed()
    {
        bool isForming = _note.Step is FormingStep.Open or FormingStep.Candidate or FormingStep.Vowed;
        if (isForming && !isUnclaimed())
        {
            Write(
                new FormingNote(FormingStep.Out)
                {
                    Why = "This node forms no cluster: it was claimed, held a database, or has admitted other nodes.",
                }
            );
            _vows.Clear();
        }
    }

    /// <summary>Explains why a caller's vow does not count; null if it counts.</summary>
    private string? WhyNotCounted(FormingCall call)
    {
        if (call.Expect != self.Expect)
        {
            return $"{self.Name} expects {self.Expect} nodes.";
        }

        if (
            IsSame(call.Name, self.Name)
            || FreshVows().Exists(vow => IsSame(vow.Name, call.Name) && !IsSame(vow.NodeId, call.NodeId))
        )
        {
            return $"{self.Name} does not count the promise of {call.Name}, because another node has that name: give "
                + $"each its own `hostname`, or none.";
        }

        return null;
    }

    private void FoundIfAllVowed()
    {
        var vows = FreshVows();
        if (vows.Count >= self.Expect - 1)
        {
            Write(
                new FormingNote(FormingStep.Founded)
                {
                    Candidacy = _note.Candidacy,
                    Members =
                    [
                        .. vows.Take(self.Expect - 1)
                            .Select(static vow => new FormingMember(
                                vow.NodeId,
                                vow.Name,
                                RandomNumberGenerator.GetBytes(JoinToken.SecretBytes)
                            )),
                    ],
                }
            );
        }
    }

    /// <summary>
    /// Vows to an existing candidate, or becomes a candidate. Does neither while too few nodes are visible.
    /// </summary>
    private void VowOrBecomeCandidate(FormingAnswer[] sameSize)
    {
        FormingAnswer[] open = [.. sameSize.Where(static answer => answer.Step == FormingStep.Open)];
        FormingAnswer? candidate = sameSize
            .Where(static answer => answer.Step == FormingStep.Candidate)
            .MinBy(static answer => answer.NodeId, StringComparer.Ordinal);
        if (candidate is not null)
        {
            int vowed = sameSize.Count(answer =>
                answer.Step == FormingStep.Vowed && IsSame(answer.Founder, candidate.NodeId)
            );

            // Besides these nodes, the candidate and this node itself count.
            if (open.Length + vowed + 2 >= self.Expect)
            {
                Write(
                    new FormingNote(FormingStep.Vowed)
                    {
                        Candidacy = candidate.Candidacy,
                        Founder = candidate.NodeId,
                        FounderName = candidate.Name,
                    }
                );
            }
        }
        else if (open.Length + 1 >= self.Expect && !Array.Exists(open, answer => IsBefore(answer.NodeId)))
        {
            Write(new FormingNote(FormingStep.Candidate) { Candidacy = HistoryId.Create() });
        }
    }

    private void FollowCandidate(FormingAnswer founder)
    {
        if (founder.Step == FormingStep.Founded)
        {
            JoinOrLeave(founder);
        }
        else if (founder.Step != FormingStep.Candidate || !IsSame(founder.Candidacy, _note.Candidacy))
        {
            Write(FormingNote.Open);
        }
    }

    /// <summary>
    /// Joins a founder's cluster once the founder sends a token. Stops forming a cluster if this node is not among the
    /// founder's members, which are final.
    /// </summary>
    private void JoinOrLeave(FormingAnswer founder)
    {
        bool isMember = founder.Members.Contains(self.NodeId, StringComparer.Ordinal);
        if (isMember && founder.Token is null)
        {
            return;
        }

        Write(
            isMember
                ? new FormingNote(FormingStep.Admitted) { Name = self.Name, Token = founder.Token }
                : new FormingNote(FormingStep.Out)
                {
                    Why =
                        $"{founder.Name} has founded the cluster {self.ClusterName} of {self.Expect} without this "
                        + $"node, because more than {self.Expect} nodes were on. This node can join with a token that "
                        + $"`rookery cluster token create` prints on {founder.Name}. It can also be claimed. To let it "
                        + $"form another cluster instead, stop it, delete {FormingNote.PathIn(dataDirectory)}, and "
                        + $"start it again.",
                }
        );
        _vows.Clear();
    }

    private void Write(FormingNote note)
    {
        note.Write(disk, dataDirectory);
        _note = note;
    }
}

/// <summary>A forming node.</summary>
/// <param name="NodeId">The node's id before it joins.</param>
/// <param name="Name">The node's name.</param>
/// <param name="ClusterName">The name of the cluster to form.</param>
/// <param name="Expect">The number of nodes that the cluster is to have.</param>
internal sealed record FormingSelf(string NodeId, string Name, string ClusterName, int Expect);
