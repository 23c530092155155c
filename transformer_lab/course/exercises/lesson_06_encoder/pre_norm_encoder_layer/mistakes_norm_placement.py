"""Pre-norm layers as they should not be."""

from torch.nn import functional as F

from transformer_lab.course.exercises.lesson_06_encoder.shared.layer_mistake_template import InPieces


class ResidualFromTheNormed(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.attended(x, mask)
        x = self.norm_2(x)
        return x + self.computed(x)


class FirstResidualFromTheNormed(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.attended(x, mask)
        return x + self.computed(self.norm_2(x))


class SecondResidualFromTheNormed(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        x = self.norm_2(x)
        return x + self.computed(x)


class PostNormInstead(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return self.norm_2(x + self.computed(x))


class NormsTheBranch(InPieces):
    def forward(self, x, mask=None):
        x = x + self.norm_1(self.attended(x, mask))
        return x + self.norm_2(self.computed(x))


class NormsTheSumsToo(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(self.norm_1(x), mask))
        return self.norm_2(x + self.computed(self.norm_2(x)))


class NormsTheOutput(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return self.norm_2(x + self.computed(x))


class NormsTheOutputToo(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return self.norm_2(x + self.computed(self.norm_2(x)))


class NormsTheOutputWithTheSecondNorm(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return self.norm_2(x + self.computed(self.norm_1(x)))


class NormsTheFirstSum(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return x + self.computed(self.norm_2(x))


class OnlyQueriesNormed(InPieces):
    def forward(self, x, mask=None):
        x = x + self.self_attention(self.norm_1(x), x, x, mask)
        return x + self.computed(self.norm_2(x))


class QueriesNotNormed(InPieces):
    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        x = x + self.self_attention(x, normed, normed, mask)
        return x + self.computed(self.norm_2(x))


class ValuesNotNormed(InPieces):
    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        x = x + self.self_attention(normed, normed, x, mask)
        return x + self.computed(self.norm_2(x))


class NoNorms(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(x, mask)
        return x + self.computed(x)


class AttentionNotNormed(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(x, mask)
        return x + self.computed(self.norm_2(x))


class NetworkNotNormed(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return x + self.computed(x)


class NoResidual(InPieces):
    def forward(self, x, mask=None):
        return self.computed(self.norm_2(self.attended(self.norm_1(x), mask)))


class NoResidualAroundAttention(InPieces):
    def forward(self, x, mask=None):
        x = self.attended(self.norm_1(x), mask)
        return x + self.computed(self.norm_2(x))


class NoResidualAroundTheNetwork(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return self.computed(self.norm_2(x))


class AddsTheLayersInput(InPieces):
    def forward(self, x, mask=None):
        attended = x + self.attended(self.norm_1(x), mask)
        return x + self.computed(self.norm_2(attended))


class NetworkReadsTheLayersInput(InPieces):
    def forward(self, x, mask=None):
        attended = x + self.attended(self.norm_1(x), mask)
        return attended + self.computed(self.norm_2(x))


class NormedOnlyOnce(InPieces):
    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        x = x + self.attended(normed, mask)
        return x + self.computed(normed)


class NormsTheNormed(InPieces):
    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        x = x + self.attended(normed, mask)
        return x + self.computed(self.norm_2(normed))


class OneNormForBoth(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return x + self.computed(self.norm_1(x))


class SecondNormForBoth(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_2(x), mask)
        return x + self.computed(self.norm_2(x))


class NormsSwapped(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_2(x), mask)
        return x + self.computed(self.norm_1(x))


class NormsWithoutTheirWeights(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(F.layer_norm(x, x.shape[-1:]), mask)
        return x + self.computed(F.layer_norm(x, x.shape[-1:]))


class MaskIgnored(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), None)
        return x + self.computed(self.norm_2(x))


class MaskTurnedRound(InPieces):
    def forward(self, x, mask=None):
        turned = None if mask is None else ~mask
        x = x + self.attended(self.norm_1(x), turned)
        return x + self.computed(self.norm_2(x))


class XOnlyOnce(InPieces):
    def forward(self, x, mask=None):
        x = x + self.self_attention(self.norm_1(x), mask=mask)
        return x + self.computed(self.norm_2(x))


class XOnlyTwice(InPieces):
    def forward(self, x, mask=None):
        x = x + self.self_attention(self.norm_1(x), self.norm_1(x), mask=mask)
        return x + self.computed(self.norm_2(x))


class XTwiceAndTheMask(InPieces):
    def forward(self, x, mask=None):
        x = x + self.self_attention(self.norm_1(x), self.norm_1(x), mask)
        return x + self.computed(self.norm_2(x))


class NoAttention(InPieces):
    def forward(self, x, mask=None):
        return x + self.computed(self.norm_2(x))


class NoAttentionAndTheFirstNorm(InPieces):
    def forward(self, x, mask=None):
        return x + self.computed(self.norm_1(x))


class NetworkFirst(InPieces):
    def forward(self, x, mask=None):
        x = x + self.computed(self.norm_1(x))
        return x + self.attended(self.norm_2(x), mask)


class OnlyAttention(InPieces):
    def forward(self, x, mask=None):
        return x + self.attended(self.norm_1(x), mask)


class AddsInPlace(InPieces):
    def forward(self, x, mask=None):
        x += self.attended(self.norm_1(x), mask)
        x += self.computed(self.norm_2(x))
        return x


class DropsInTraining(InPieces):
    def forward(self, x, mask=None):
        x = x + F.dropout(self.attended(self.norm_1(x), mask), 0.1, self.training)
        return x + F.dropout(self.computed(self.norm_2(x)), 0.1, self.training)
